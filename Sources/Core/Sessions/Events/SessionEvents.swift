// SPDX-License-Identifier: Apache-2.0

/// The events of a session as an asynchronous sequence, for one client.
///
/// The sequence ends after ``SessionEvent/ended(_:)``, after ``SessionEvent/closing``, and when the task that reads it
/// is cancelled. A slow reader loses the oldest events, but never the last event. The sequence counts as an open stream
/// of the session until the sequence and its iterators are released. Only one task may read it.
public struct SessionEvents: AsyncSequence, Sendable {
    /// An event and its number.
    public typealias Element = NumberedSessionEvent
    /// No errors are thrown.
    public typealias Failure = Never

    let stream: EventStream
    let registration: StreamRegistration

    /// An iterator over the events.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let events: SessionEvents

        /// Waits for the next event.
        ///
        /// - Returns: The event; nil after the last event.
        public mutating func next() async -> NumberedSessionEvent? { await events.stream.next() }

        /// Waits for the next event.
        ///
        /// - Parameter actor: The actor of the caller.
        /// - Returns: The event; nil after the last event.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> NumberedSessionEvent? {
            await events.stream.next()
        }
    }

    /// An iterator over the events.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(events: self) }
}

/// The registration of an open stream.
///
/// The stream is closed when the registration is released.
final class StreamRegistration: Sendable {
    private let onRelease: @Sendable () -> Void

    init(onRelease: @escaping @Sendable () -> Void) { self.onRelease = onRelease }

    deinit { onRelease() }
}
