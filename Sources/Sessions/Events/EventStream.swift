// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Synchronization

/// What one client is still to be told.
final class EventStream: Sendable {
    /// How many events wait for a slow reader; of more the oldest is lost.
    static let bound = 32

    private struct State {
        var waiting: [NumberedSessionEvent] = []
        var isOver = false
        var reader: CheckedContinuation<NumberedSessionEvent?, Never>?
    }

    private let state = Mutex(State())

    /// Has an event read, now or later.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - isLast: Whether the stream ends with it.
    func deliver(_ event: NumberedSessionEvent, isLast: Bool) {
        let reader = state.withLock { state -> CheckedContinuation<NumberedSessionEvent?, Never>? in
            guard !state.isOver else { return nil }
            state.isOver = isLast
            if let reader = state.reader.take() { return reader }
            // Nothing is delivered after a last one, so that it is never the oldest of too many.
            if state.waiting.count == Self.bound { state.waiting.removeFirst() }
            state.waiting.append(event)
            return nil
        }
        reader?.resume(returning: event)
    }

    /// Has a sign of life read, unless there is something to read already.
    func beat() {
        let reader = state.withLock { state in
            if !state.isOver, state.reader == nil, state.waiting.isEmpty {
                state.waiting.append(NumberedSessionEvent(number: nil, event: .heartbeat))
            }
            return state.isOver ? nil : state.reader.take()
        }
        reader?.resume(returning: NumberedSessionEvent(number: nil, event: .heartbeat))
    }

    /// The next event, when there is one; nil when the stream is over, or nobody waits for it any more.
    func next() async -> NumberedSessionEvent? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (answer, earlier) = state.withLock {
                    state -> (NumberedSessionEvent??, CheckedContinuation<NumberedSessionEvent?, Never>?) in
                    if !state.waiting.isEmpty { return (state.waiting.removeFirst(), nil) }
                    if state.isOver || Task.isCancelled { return (.some(nil), nil) }
                    // A stream has one reader: one that still waits when another comes has been left behind.
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

    /// Whether nothing can follow what waits.
    var isOver: Bool { state.withLock { $0.isOver } }
}
