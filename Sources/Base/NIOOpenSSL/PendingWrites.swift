// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// The plaintext that is not encrypted yet, in order, with its promises.
///
/// Most flushes have a single piece, so a queue is allocated only for a second piece.
struct PendingWrites {
    typealias Entry = (data: ByteBuffer, promise: EventLoopPromise<Void>?)

    /// The maximum number of bytes of plaintext in a TLS record (RFC 8446 section 5.1).
    static let recordSize = 16_384

    private var single: Entry?
    private var isSingleFlushed = false
    private var queue: MarkedCircularBuffer<Entry>?

    var hasFlushedData: Bool { isSingleFlushed || queue?.hasMark == true }

    mutating func append(_ data: ByteBuffer, promise: EventLoopPromise<Void>?) {
        guard single != nil || queue != nil else {
            single = (data, promise)
            return
        }
        if let first = single {
            var queue = MarkedCircularBuffer<Entry>(initialCapacity: 4)
            queue.append(first)
            if isSingleFlushed { queue.mark() }
            self.queue = queue
            single = nil
            isSingleFlushed = false
        }
        queue?.append((data, promise))
    }

    /// Marks all plaintext up to now as flushed.
    mutating func markFlush() {
        if single != nil { isSingleFlushed = true } else { queue?.mark() }
    }

    /// Removes and returns the only piece; nil if there are several pieces, or if the piece is not flushed or is longer
    /// than `limit`.
    mutating func takeSingle(upTo limit: Int) -> Entry? {
        guard isSingleFlushed, let entry = single, entry.data.readableBytes <= limit else { return nil }
        single = nil
        isSingleFlushed = false
        return entry
    }

    /// Puts back a piece that could not be encrypted yet.
    mutating func putBack(_ entry: Entry) {
        single = entry
        isSingleFlushed = true
    }

    /// Returns the first flushed data.
    ///
    /// Small pieces are joined up to the size of a record, because copying takes less time than more records.
    mutating func frontData() -> ByteBuffer? {
        if let single { return isSingleFlushed ? single.data : nil }
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

    /// Drops the first `count` bytes of the first data; returns its promise, if it has one, when no part of it is left.
    mutating func advance(by count: Int) -> EventLoopPromise<Void>? {
        if var entry = single {
            entry.data.moveReaderIndex(forwardBy: count)
            if entry.data.readableBytes > 0 {
                single = entry
                return nil
            }
            single = nil
            isSingleFlushed = false
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
        return (single?.promise).map { [$0] } ?? queue?.compactMap(\.promise) ?? []
    }
}
