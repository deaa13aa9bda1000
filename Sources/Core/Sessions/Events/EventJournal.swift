// SPDX-License-Identifier: Apache-2.0

/// The latest events of a session, and the open streams that receive its new events.
struct EventJournal: Sendable {
    /// The number of events that are kept for clients that reconnect.
    static let capacity = 16

    private var lastNumber: UInt64 = 0
    private var events: [NumberedSessionEvent] = []
    private var streams: [EventStream] = []
    private var isOver = false

    /// Delivers an event to all streams and keeps it for clients that reconnect.
    ///
    /// Events after the end event are ignored.
    mutating func publish(_ event: SessionEvent) {
        guard !isOver else { return }
        if case .ended = event { isOver = true }
        lastNumber += 1
        let numbered = NumberedSessionEvent(number: lastNumber, event: event)
        events.append(numbered)
        if events.count > Self.capacity { events.removeFirst() }
        for stream in streams { stream.deliver(numbered, isLast: isOver) }
        if isOver { streams = [] }
    }

    /// Adds a stream, and delivers the kept events that its client has missed.
    ///
    /// - Parameters:
    ///   - stream: The stream.
    ///   - number: The number of the last event that the client has received; nil to deliver only new events.
    /// - Returns: False if the session has ended.
    mutating func attach(_ stream: EventStream, after number: UInt64?) -> Bool {
        guard !isOver else { return false }
        if let number {
            // A number above the last number is from before a restart, so the client has received none of the kept
            // events.
            let received = number > lastNumber ? 0 : number
            for event in events where event.number.map({ $0 > received }) ?? false {
                stream.deliver(event, isLast: false)
            }
        }
        streams.append(stream)
        return true
    }

    mutating func detach(_ stream: EventStream) { streams.removeAll { $0 === stream } }
}
