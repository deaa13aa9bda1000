// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import NIOCore

/// Plaintext that is not encrypted yet, in order, with the promises for it.
struct PendingWrites {
    /// The most plaintext of a TLS record (RFC 8446 5.1).
    static let recordSize = 16_384

    private var queue = MarkedCircularBuffer<(data: ByteBuffer, promise: EventLoopPromise<Void>?)>(initialCapacity: 4)

    /// Whether something is to be encrypted now.
    var hasFlushed: Bool { queue.hasMark }

    mutating func append(_ data: ByteBuffer, _ promise: EventLoopPromise<Void>?) {
        queue.append((data, promise))
    }

    /// Makes everything up to here flushed.
    mutating func markFlush() {
        queue.mark()
    }

    /// The flushed data that is first in line.
    ///
    /// Small pieces are put together up to a record's size: a record each would cost more than the copy.
    mutating func frontData() -> ByteBuffer? {
        guard queue.hasMark, var front = queue.first else { return nil }
        guard front.data.readableBytes < Self.recordSize, !queue.isMarked(index: queue.startIndex) else {
            return front.data
        }
        var merged = false
        while queue.hasMark, !queue.isMarked(index: queue.startIndex) {
            let next = queue[queue.index(after: queue.startIndex)]
            guard front.data.readableBytes + next.data.readableBytes <= Self.recordSize else { break }
            _ = queue.removeFirst()
            front.data.writeImmutableBuffer(next.data)
            switch (front.promise, next.promise) {
            case (nil, let promise): front.promise = promise
            case (_, nil): break
            case (let first?, let second?): first.futureResult.cascade(to: second)
            }
            merged = true
        }
        if merged { queue[queue.startIndex] = front }
        return front.data
    }

    /// Forgets the first `count` bytes of the front data.
    ///
    /// - Returns: Whether all of it is gone, and then the promise for it.
    mutating func advance(by count: Int) -> (finished: Bool, promise: EventLoopPromise<Void>?) {
        let index = queue.startIndex
        queue[index].data.moveReaderIndex(forwardBy: count)
        guard queue[index].data.readableBytes == 0 else { return (false, nil) }
        let promise = queue[index].promise
        _ = queue.removeFirst()
        return (true, promise)
    }

    /// Takes out the promises for all data and forgets the data.
    mutating func removeAll() -> [EventLoopPromise<Void>] {
        defer { queue = MarkedCircularBuffer(initialCapacity: 0) }
        return queue.compactMap(\.promise)
    }
}
