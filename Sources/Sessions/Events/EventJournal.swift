// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The latest events of a session, and the streams that receive the next ones.
struct EventJournal: Sendable {
    /// The number of events that are kept for clients that reconnect.
    static let capacity = 16

    private var lastNumber: UInt64 = 0
    private var events: [NumberedSessionEvent] = []
    private var streams: [EventStream] = []
    private var isOver = false

    /// Delivers an event to all streams and keeps it for clients that reconnect; no event follows an end.
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

    /// Delivers the events that a stream has missed, and all that follow.
    ///
    /// - Parameters:
    ///   - stream: The stream.
    ///   - number: The last event that its client has received; nil to replay none.
    /// - Returns: False if the session has ended.
    mutating func attach(_ stream: EventStream, after number: UInt64?) -> Bool {
        guard !isOver else { return false }
        if let number {
            // A number higher than the last is from before a restart: the client has received none of these events.
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
