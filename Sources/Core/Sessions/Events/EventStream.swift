// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The queue of events for one client.
///
/// An `AsyncStream` would have two faults. Its buffer cannot be inspected, so a heartbeat would displace an event from
/// a full buffer. Two concurrent readers would crash the process.
final class EventStream: Sendable {
    /// The maximum number of events that wait for a slow reader.
    ///
    /// If a further event is added, the oldest event is removed.
    static let capacity = 32

    private struct State {
        var waiting: [NumberedSessionEvent] = []
        var isOver = false
        var reader: CheckedContinuation<NumberedSessionEvent?, Never>?
    }

    private let state = Mutex(State())

    /// Delivers an event to the reader, or queues it until the reader asks for the next event.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - isLast: True if the stream ends with this event.
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

    /// Waits for the next event.
    ///
    /// - Returns: The event; nil when the stream has ended or the task is cancelled.
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
