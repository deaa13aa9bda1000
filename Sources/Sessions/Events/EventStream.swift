// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Synchronization

/// The events that one client has still to receive.
///
/// It is not an `AsyncStream`. The buffer of one cannot be inspected, so a heartbeat would push an event out of a full
/// buffer; and two concurrent readers end the process.
final class EventStream: Sendable {
    /// The number of events that wait for a slow reader; beyond it the oldest is dropped.
    static let capacity = 32

    private struct State {
        var waiting: [NumberedSessionEvent] = []
        var isOver = false
        var reader: CheckedContinuation<NumberedSessionEvent?, Never>?
    }

    private let state = Mutex(State())

    /// Delivers an event to the reader, which may come later.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - isLast: True if the stream ends with it.
    func deliver(_ event: NumberedSessionEvent, isLast: Bool) {
        let reader = state.withLock { state -> CheckedContinuation<NumberedSessionEvent?, Never>? in
            guard !state.isOver else { return nil }
            state.isOver = isLast
            if let reader = state.reader.take() { return reader }
            // Nothing is delivered after a last event, so it is never the oldest one.
            if state.waiting.count == Self.capacity { state.waiting.removeFirst() }
            state.waiting.append(event)
            return nil
        }
        reader?.resume(returning: event)
    }

    /// Delivers a heartbeat, unless an event waits already.
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
    /// - Returns: The event; nil when the stream is over or the task is cancelled.
    func next() async -> NumberedSessionEvent? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (answer, earlier) = state.withLock {
                    state -> (NumberedSessionEvent??, CheckedContinuation<NumberedSessionEvent?, Never>?) in
                    if !state.waiting.isEmpty { return (state.waiting.removeFirst(), nil) }
                    if state.isOver || Task.isCancelled { return (.some(nil), nil) }
                    // A stream has one reader: if a second one waits, the stream ends for the first.
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
