// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import NIOCore

/// Plaintext that is not encrypted yet, in order, with its promises.
///
/// A queue is allocated for the second piece only: most flushes have one piece, and an idle connection has no queue.
struct PendingWrites {
    typealias Entry = (data: ByteBuffer, promise: EventLoopPromise<Void>?)

    /// The largest number of bytes of plaintext in a TLS record (RFC 8446 section 5.1).
    static let recordSize = 16_384

    private var only: Entry?
    private var isOnlyFlushed = false
    private var queue: MarkedCircularBuffer<Entry>?

    /// True if there is flushed data.
    var hasFlushed: Bool { isOnlyFlushed || queue?.hasMark == true }

    mutating func append(_ data: ByteBuffer, promise: EventLoopPromise<Void>?) {
        guard only != nil || queue != nil else {
            only = (data, promise)
            return
        }
        if let first = only {
            var queue = MarkedCircularBuffer<Entry>(initialCapacity: 4)
            queue.append(first)
            if isOnlyFlushed { queue.mark() }
            self.queue = queue
            only = nil
            isOnlyFlushed = false
        }
        queue?.append((data, promise))
    }

    /// Marks everything appended so far as flushed.
    mutating func markFlush() {
        if only != nil { isOnlyFlushed = true } else { queue?.mark() }
    }

    /// Removes and returns the only piece, if there is one, and it is flushed and not too long.
    mutating func takeOnly(upTo limit: Int) -> Entry? {
        guard isOnlyFlushed, let entry = only, entry.data.readableBytes <= limit else { return nil }
        only = nil
        isOnlyFlushed = false
        return entry
    }

    /// Puts back a piece that could not be encrypted yet.
    mutating func putBack(_ entry: Entry) {
        only = entry
        isOnlyFlushed = true
    }

    /// Returns the first flushed data.
    ///
    /// Small pieces are joined up to a record's size: one record for each would cost more than the copy.
    mutating func frontData() -> ByteBuffer? {
        if let only { return isOnlyFlushed ? only.data : nil }
        guard var queue, queue.hasMark, var front = queue.first else { return nil }
        guard front.data.readableBytes < Self.recordSize, !queue.isMarked(index: queue.startIndex) else {
            return front.data
        }
        self.queue = nil
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
        self.queue = queue
        return front.data
    }

    /// Drops the first `count` bytes of the front data.
    ///
    /// - Returns: Its promise, if all of it is dropped and it has one.
    mutating func advance(by count: Int) -> EventLoopPromise<Void>? {
        if var entry = only {
            entry.data.moveReaderIndex(forwardBy: count)
            if entry.data.readableBytes > 0 {
                only = entry
                return nil
            }
            only = nil
            isOnlyFlushed = false
            return entry.promise
        }
        guard var queue, !queue.isEmpty else { return nil }
        self.queue = nil
        let index = queue.startIndex
        queue[index].data.moveReaderIndex(forwardBy: count)
        defer { self.queue = queue.isEmpty ? nil : queue }
        return queue[index].data.readableBytes == 0 ? queue.removeFirst().promise : nil
    }

    /// Drops all data and returns its promises.
    mutating func removeAll() -> [EventLoopPromise<Void>] {
        defer { self = PendingWrites() }
        return (only?.promise).map { [$0] } ?? queue?.compactMap(\.promise) ?? []
    }
}
