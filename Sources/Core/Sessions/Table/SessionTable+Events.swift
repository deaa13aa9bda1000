// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

extension SessionTable {
    /// Opens a stream of a session's events.
    ///
    /// An open stream does not count as a use of the session.
    ///
    /// - Parameters:
    ///   - session: The session.
    ///   - lastEventID: The number of the last event that the client has received, as in `Last-Event-ID`; nil to
    ///     deliver only new events. Events that the client has missed are delivered first, if they are among the last
    ///     16 events of the session.
    /// - Returns: The events.
    /// - Throws: ``SessionFault``: `ended`, `tooManyStreams`, `closing`.
    public func events(of session: Session, after lastEventID: UInt64?) throws(SessionFault) -> SessionEvents {
        let limits = settings
        let stream = EventStream()
        let (number, evicted) = try streams.withLock { streams throws(SessionFault) in
            try streams.open(stream, of: session, limits: limits)
        }
        evicted?.deliver(NumberedSessionEvent(number: nil, event: .closing), isLast: true)
        let registration = StreamRegistration { [self] in
            session.journal.withLock { $0.detach(stream) }
            streams.withLock { $0.close(number) }
        }
        guard session.journal.withLock({ $0.attach(stream, after: lastEventID) }) else { throw .ended }
        return SessionEvents(stream: stream, registration: registration)
    }

    /// Sends a message to the clients of a session.
    ///
    /// A client that reconnects gets the message if it is among the last 16 events.
    ///
    /// - Parameters:
    ///   - message: One line of text. Characters that are not printable are removed, and the text is cut to 1,000
    ///     bytes.
    ///   - session: The session.
    public func send(_ message: String, to session: Session) {
        let text = PrintableText.clean(message, maximumBytes: SessionCommand.maximumMessageBytes)
        session.journal.withLock { $0.publish(.message(text)) }
    }

    /// Ends all event streams before the server stops.
    ///
    /// New streams are rejected, and the sessions continue.
    public func close() {
        let open = streams.withLock { $0.closeAll() }
        for stream in open { stream.deliver(NumberedSessionEvent(number: nil, event: .closing), isLast: true) }
    }

    /// Sends a heartbeat on all streams.
    func sendHeartbeats() {
        for stream in streams.withLock({ $0.streams }) { stream.deliverHeartbeat() }
    }
}
