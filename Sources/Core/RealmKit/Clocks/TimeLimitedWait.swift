// SPDX-License-Identifier: Apache-2.0

internal import Bytes

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
