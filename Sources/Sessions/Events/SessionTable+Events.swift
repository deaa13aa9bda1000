// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Synchronization

/// The streams that are open.
struct OpenStreams: Sendable {
    var streams: [UInt64: EventStream] = [:]
    var ofSession: [SessionID: Int] = [:]
    var lastNumber: UInt64 = 0
    var isClosed = false

    mutating func open(
        _ stream: EventStream,
        of id: SessionID,
        _ limits: SessionSettings
    ) throws(SessionFault) -> UInt64 {
        guard !isClosed else { throw .closing }
        let open = ofSession[id, default: 0]
        guard open < limits.streamsPerSession, streams.count < limits.streams else { throw .tooManyStreams }
        lastNumber += 1
        streams[lastNumber] = stream
        ofSession[id] = open + 1
        return lastNumber
    }

    mutating func close(_ number: UInt64, of id: SessionID) {
        guard streams.removeValue(forKey: number) != nil else { return }
        let open = ofSession[id, default: 0] - 1
        ofSession[id] = open > 0 ? open : nil
    }
}

extension SessionTable {
    /// Tells what happens to a session, which counts as no use of it.
    ///
    /// - Parameters:
    ///   - session: The session.
    ///   - lastEventID: The number of the last event the client has seen, as `Last-Event-ID` says: what it has missed is
    ///     told first, as far as it is among the last 16. Nil for what is to come only.
    /// - Returns: The events.
    /// - Throws: ``SessionFault``: `ended`, `tooManyStreams`, `closing`.
    public func events(of session: Session, after lastEventID: UInt64?) throws(SessionFault) -> SessionEvents {
        let limits = settings
        let stream = EventStream()
        let number = try streams.withLock { streams throws(SessionFault) in
            try streams.open(stream, of: session.id, limits)
        }
        let place = StreamPlace { [self] in
            session.journal.withLock { $0.detach(stream) }
            streams.withLock { $0.close(number, of: session.id) }
        }
        guard session.journal.withLock({ $0.attach(stream, after: lastEventID) }) else { throw .ended }
        return SessionEvents(stream: stream, place: place)
    }

    /// Says something to a session's clients; to those too that come within the next 16 events.
    ///
    /// - Parameters:
    ///   - message: One line of text: what is not printable is taken out, what is over 1,000 bytes is cut.
    ///   - session: The session.
    public func send(_ message: String, to session: Session) {
        let text = PrintableText.clean(message, maximumBytes: SessionOrder.maximumMessageBytes)
        session.journal.withLock { $0.publish(.message(text)) }
    }

    /// Ends all event streams, as the server is about to stop; no others can be opened, and the sessions stay.
    public func close() {
        let open = streams.withLock { streams in
            streams.isClosed = true
            return Array(streams.streams.values)
        }
        for stream in open { stream.deliver(NumberedSessionEvent(number: nil, event: .closing), isLast: true) }
    }

    /// Shows on all streams that they are alive.
    func beat() {
        for stream in streams.withLock({ Array($0.streams.values) }) { stream.beat() }
    }
}
