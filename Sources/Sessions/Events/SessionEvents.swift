// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The events of a session, for one client, as they happen.
///
/// It ends after ``SessionEvent/ended(_:)`` and after ``SessionEvent/closing``, or when the task that reads it is cancelled.
/// Who reads too slowly loses the oldest events, never the last. It has a place among the session's streams until it and
/// its iterators are gone. It is for one reader.
public struct SessionEvents: AsyncSequence, Sendable {
    /// An event and its number.
    public typealias Element = NumberedSessionEvent
    /// None.
    public typealias Failure = Never

    let stream: EventStream
    let place: StreamPlace

    /// Reads the events.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let events: SessionEvents

        /// Waits for the next event.
        ///
        /// - Returns: The event; nil after the last.
        public mutating func next() async -> NumberedSessionEvent? { await events.stream.next() }

        /// Waits for the next event.
        ///
        /// - Parameter actor: The actor on which it is waited for.
        /// - Returns: The event; nil after the last.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> NumberedSessionEvent? {
            await events.stream.next()
        }
    }

    /// What reads the events.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(events: self) }
}

/// A place among the streams that may be open, given back when it goes.
final class StreamPlace: Sendable {
    private let giveBack: @Sendable () -> Void

    init(_ giveBack: @escaping @Sendable () -> Void) { self.giveBack = giveBack }

    deinit { giveBack() }
}
