// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// What has happened to a session of late, and who is told of what happens.
struct EventJournal: Sendable {
    /// How many events are kept for clients that come back.
    static let kept = 16

    private var last: UInt64 = 0
    private var events: [NumberedSessionEvent] = []
    private var streams: [EventStream] = []
    private var isOver = false

    /// Tells all streams, and keeps the event for those that come back; nothing follows an end.
    mutating func publish(_ event: SessionEvent) {
        guard !isOver else { return }
        if case .ended = event { isOver = true }
        last += 1
        let numbered = NumberedSessionEvent(number: last, event: event)
        events.append(numbered)
        if events.count > Self.kept { events.removeFirst() }
        for stream in streams { stream.deliver(numbered, isLast: isOver) }
        if isOver { streams = [] }
    }

    /// Tells a stream from now on, and what it has missed.
    ///
    /// - Parameters:
    ///   - stream: The stream.
    ///   - number: The last event its client has seen; nil if it asks for what is to come only.
    /// - Returns: False if the session is over.
    mutating func attach(_ stream: EventStream, after number: UInt64?) -> Bool {
        guard !isOver else { return false }
        if let number {
            // One that was never given comes from before a restart: nothing of this is known to that client.
            let seen = number > last ? 0 : number
            for event in events where event.number.map({ $0 > seen }) ?? false {
                stream.deliver(event, isLast: false)
            }
        }
        streams.append(stream)
        return true
    }

    mutating func detach(_ stream: EventStream) { streams.removeAll { $0 === stream } }
}
