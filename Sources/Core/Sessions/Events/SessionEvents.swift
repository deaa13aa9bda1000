// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// An event of a session that is sent to its clients.
package enum SessionEvent: Sendable, Hashable {
    /// The session ends in this many seconds if there is no request; sent again after ``extended(idleExpiry:)``.
    case expiring(seconds: Int)
    /// The session was used after ``expiring(seconds:)``; the value is its new idle end, in seconds since 1970.
    case extended(idleExpiry: Int)
    /// The session has ended, and this is its last event.
    case ended(SessionEndCause)
    /// A message from an administrator to the user.
    case message(String)
    /// The connection is still open; the event has no number.
    case heartbeat
    /// The server is stopping, or there are too many streams and the user has the most of them; the last event of the
    /// stream, without a number.
    ///
    /// The session may continue after a restart.
    case closing
}

/// An event and its number, which a client sends as `Last-Event-ID` when it reconnects.
package struct NumberedSessionEvent: Sendable, Hashable {
    /// The number of the event, from 1 for the first of a session; nil for an event that is not replayed.
    package let number: UInt64?
    package let event: SessionEvent
}

/// The events of a session as an asynchronous sequence, for one client and one task.
///
/// The sequence ends after ``SessionEvent/ended(_:)``, after ``SessionEvent/closing``, and when the task that reads it
/// is cancelled. A slow reader loses the oldest events, but never the last event. The sequence counts as an open stream
/// of the session until it is released.
package final class SessionEvents: AsyncSequence, AsyncIteratorProtocol, Sendable {
    private let stream: EventStream
    private let onRelease: @Sendable () -> Void

    init(_ stream: EventStream, onRelease: @escaping @Sendable () -> Void) {
        (self.stream, self.onRelease) = (stream, onRelease)
    }

    deinit { onRelease() }

    package func makeAsyncIterator() -> SessionEvents { self }

    /// Waits for the next event; nil after the last event.
    package func next() async -> NumberedSessionEvent? { await stream.next() }

    package func next(isolation actor: isolated (any Actor)?) async -> NumberedSessionEvent? { await stream.next() }
}

extension SessionTable {
    /// Opens a stream of a session's events, which does not count as a use of the session.
    ///
    /// Events after the last one that the client has received, as in `Last-Event-ID`, are delivered first, if they are
    /// among the last 16 events of the session.
    package func events(of session: Session, after lastEventID: UInt64?) throws(SessionFault) -> SessionEvents {
        guard session.isLive(clocks.now) else { throw .ended }
        let limits = settings
        let stream = EventStream()
        let evicted = try streams.withLock { streams throws(SessionFault) in
            try streams.open(stream, of: session, limits: limits)
        }
        evicted?.deliver(NumberedSessionEvent(number: nil, event: .closing), isLast: true)
        let events = SessionEvents(stream) { [self] in
            session.journal.withLock { $0.detach(stream) }
            streams.withLock { $0.close(stream) }
        }
        guard session.journal.withLock({ $0.attach(stream, after: lastEventID) }) else { throw .ended }
        return events
    }

    /// Sends a message to the clients of a session, also to one that reconnects before 16 further events.
    ///
    /// Characters that are not printable are removed, and the text is cut to 1,000 bytes.
    package func send(_ message: String, to session: Session) {
        let text = PrintableText.clean(message, maximumBytes: SessionCommand.maximumMessageBytes)
        session.journal.withLock { $0.publish(.message(text)) }
    }

    /// Ends all event streams and rejects new ones, before the server stops; the sessions continue.
    package func close() {
        let open = streams.withLock { $0.closeAll() }
        for stream in open { stream.deliver(NumberedSessionEvent(number: nil, event: .closing), isLast: true) }
    }

    func sendHeartbeats() {
        for stream in streams.withLock({ $0.streams }) { stream.deliverHeartbeat() }
    }
}
