// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The queue of events for one client.
///
/// An `AsyncStream` would have two faults: its buffer cannot be inspected, so a heartbeat would displace an event from
/// a full buffer, and two concurrent readers would crash the process.
final class EventStream: Sendable {
    /// The maximum number of events that wait for a slow reader; then the oldest is removed.
    static let capacity = 32

    private struct State {
        var waiting: [NumberedSessionEvent] = []
        var isOver = false
        var reader: CheckedContinuation<NumberedSessionEvent?, Never>?
    }

    private let state = Mutex(State())

    /// Delivers an event to the reader, or queues it until the reader asks for the next event.
    func deliver(_ event: NumberedSessionEvent, isLast: Bool) {
        let reader = state.withLock { state -> CheckedContinuation<NumberedSessionEvent?, Never>? in
            guard !state.isOver else { return nil }
            state.isOver = isLast
            if let reader = state.reader.take() { return reader }
            // The last event is never the oldest here, because no event is added after the last event.
            if state.waiting.count == Self.capacity { state.waiting.removeFirst() }
            state.waiting.append(event)
            return nil
        }
        reader?.resume(returning: event)
    }

    /// Delivers a heartbeat, unless an event is already queued.
    func deliverHeartbeat() {
        let reader = state.withLock { state in
            if !state.isOver, state.reader == nil, state.waiting.isEmpty {
                state.waiting.append(NumberedSessionEvent(number: nil, event: .heartbeat))
            }
            return state.isOver ? nil : state.reader.take()
        }
        reader?.resume(returning: NumberedSessionEvent(number: nil, event: .heartbeat))
    }

    /// Waits for the next event; nil when the stream has ended or the task is cancelled.
    func next() async -> NumberedSessionEvent? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (answer, earlier) = state.withLock {
                    state -> (NumberedSessionEvent??, CheckedContinuation<NumberedSessionEvent?, Never>?) in
                    if !state.waiting.isEmpty { return (state.waiting.removeFirst(), nil) }
                    if state.isOver || Task.isCancelled { return (.some(nil), nil) }
                    // A stream has one reader. If a second reader calls this function, the first reader gets nil.
                    let earlier = state.reader
                    state.reader = continuation
                    return (nil, earlier)
                }
                earlier?.resume(returning: nil)
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            state.withLock { $0.reader.take() }?.resume(returning: nil)
        }
    }
}

/// The latest events of a session, and the open streams that receive its new events.
struct EventJournal: Sendable {
    /// The number of events that are kept for clients that reconnect.
    static let capacity = 16

    private var lastNumber: UInt64 = 0
    private var events: [NumberedSessionEvent] = []
    private var streams: [EventStream] = []
    private var isOver = false

    /// Delivers an event to all streams and keeps it for clients that reconnect; nothing follows the end event.
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

    /// Adds a stream, and delivers the kept events after the given one; false if the session has ended.
    mutating func attach(_ stream: EventStream, after number: UInt64?) -> Bool {
        guard !isOver else { return false }
        if let number {
            // A number above the last number is from before a restart, so the client has received no kept event.
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

/// The open event streams of all sessions.
struct OpenStreams: Sendable {
    private struct Entry: Sendable {
        let stream: EventStream
        let session: SessionID
        let owner: SessionOwner
    }

    private var entries: [ObjectIdentifier: Entry] = [:]
    /// The streams of each user, the oldest first.
    private var byOwner: [SessionOwner: [ObjectIdentifier]] = [:]
    private var isClosed = false

    var streams: [EventStream] { entries.values.map(\.stream) }

    /// Adds a stream, and returns the stream that must end if there are too many: the oldest of the user with the most
    /// streams, unless the user of the new stream would then have the most.
    mutating func open(
        _ stream: EventStream,
        of session: Session,
        limits: SessionSettings
    ) throws(SessionFault) -> EventStream? {
        guard !isClosed else { throw .closing }
        let owner = SessionOwner(session.user)
        let own = byOwner[owner] ?? []
        guard own.count(where: { entries[$0]?.session == session.id }) < limits.streamsPerSession,
            own.count < limits.streamsPerUser
        else { throw .tooManyStreams }
        var evicted: EventStream?
        if entries.count >= limits.streams {
            guard let most = byOwner.values.max(by: { $0.count < $1.count }), most.count > own.count + 1 else {
                throw .tooManyStreams
            }
            evicted = entries[most[0]]?.stream
            if let evicted { close(evicted) }
        }
        entries[ObjectIdentifier(stream)] = Entry(stream: stream, session: session.id, owner: owner)
        byOwner[owner, default: []].append(ObjectIdentifier(stream))
        return evicted
    }

    /// Removes a stream; does nothing if it was removed before.
    mutating func close(_ stream: EventStream) {
        guard let owner = entries.removeValue(forKey: ObjectIdentifier(stream))?.owner else { return }
        byOwner[owner]?.removeAll { $0 == ObjectIdentifier(stream) }
        if byOwner[owner]?.isEmpty == true { byOwner[owner] = nil }
    }

    /// Rejects new streams from now on, and returns the open ones, to be ended by the caller.
    mutating func closeAll() -> [EventStream] {
        isClosed = true
        return streams
    }
}
