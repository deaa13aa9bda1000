// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Synchronization

/// A value that is set once and that one task waits for; later values are ignored.
package final class FirstValue<Value: Sendable>: Sendable {
    private enum State {
        case open
        case waited(CheckedContinuation<Value, Never>)
        case settled(Value)
    }

    private let state = Mutex(State.open)

    /// Creates a value that is not set.
    package init() {}

    /// Sets the value, unless it is already set.
    package func set(_ value: Value) {
        let waiting: CheckedContinuation<Value, Never>? = state.withLock { state in
            switch state {
            case .open:
                state = .settled(value)
                return nil
            case .waited(let continuation):
                state = .settled(value)
                return continuation
            case .settled: return nil
            }
        }
        waiting?.resume(returning: value)
    }

    /// The value; nil if it is not set.
    var current: Value? {
        state.withLock { state in
            if case .settled(let value) = state { return value }
            return nil
        }
    }

    /// Waits for the value; only one task may wait.
    package func value() async -> Value {
        await withCheckedContinuation { continuation in
            let settled: Value? = state.withLock { state in
                if case .settled(let value) = state { return value }
                state = .waited(continuation)
                return nil
            }
            if let settled { continuation.resume(returning: settled) }
        }
    }
}

/// Waits for a task, but no longer than a time limit.
///
/// The task is not cancelled at the limit.
package enum TimeLimitedWait {
    /// Waits for the value of a task.
    ///
    /// - Parameters:
    ///   - task: The task; it is not cancelled.
    ///   - limit: The longest time to wait.
    ///   - clock: The clock for the limit.
    /// - Returns: The value; nil if the limit was reached first, or the waiting task was cancelled.
    package static func value<Value: Sendable>(
        of task: Task<Value, Never>,
        within limit: Duration,
        clock: any LoginClock
    ) async -> Value? {
        let first = FirstValue<Value?>()
        let deadline = clock.now &+ limit.nanoseconds
        let waiter = Task { first.set(await task.value) }
        let alarm = Task {
            do throws(CancellationError) {
                try await clock.sleep(until: deadline)
                first.set(nil)
            } catch {
                // The alarm was cancelled, because the wait has ended.
            }
        }
        defer {
            alarm.cancel()
            waiter.cancel()
        }
        return await withTaskCancellationHandler {
            await first.value()
        } onCancel: {
            first.set(nil)
        }
    }
}
