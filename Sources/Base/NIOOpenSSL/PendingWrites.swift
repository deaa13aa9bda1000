// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// The plaintext that is not encrypted yet, in order, with its promises.
struct PendingWrites {
    /// The maximum number of bytes of plaintext in a TLS record (RFC 8446 section 5.1).
    static let recordSize = 16_384

    private var queue = MarkedCircularBuffer<(data: ByteBuffer, promise: EventLoopPromise<Void>?)>(initialCapacity: 2)
    /// True if the queue was so long that its memory must not be kept.
    private var wasLong = false

    var hasFlushedData: Bool { queue.hasMark }

    mutating func append(_ data: ByteBuffer, promise: EventLoopPromise<Void>?) {
        queue.append((data, promise))
        wasLong = wasLong || queue.count > 8
    }

    /// Marks all plaintext up to now as flushed.
    mutating func markFlush() { queue.mark() }

    /// Returns the first flushed data.
    ///
    /// Small pieces are joined up to the size of a record, because copying takes less time than more records.
    mutating func frontData() -> ByteBuffer? {
        guard queue.hasMark, var front = queue.first else { return nil }
        guard front.data.readableBytes < Self.recordSize else { return front.data }
        var isJoined = false
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
            isJoined = true
        }
        if isJoined { queue[queue.startIndex] = front }
        return front.data
    }

    /// Drops the first `count` bytes of the first data; returns its promise, if it has one, when no part of it is left.
    mutating func advance(by count: Int) -> EventLoopPromise<Void>? {
        guard !queue.isEmpty else { return nil }
        queue[queue.startIndex].data.moveReaderIndex(forwardBy: count)
        guard queue[queue.startIndex].data.readableBytes == 0 else { return nil }
        let promise = queue.removeFirst().promise
        if queue.isEmpty, wasLong { self = PendingWrites() }
        return promise
    }

    /// Drops all data and returns its promises.
    mutating func removeAll() -> [EventLoopPromise<Void>] {
        defer { self = PendingWrites() }
        return queue.compactMap(\.promise)
    }
}
