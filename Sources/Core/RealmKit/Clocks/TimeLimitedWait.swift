// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Workers

package enum TimeLimitedWait {
    /// Returns the value of a task, which is not cancelled; nil at the limit, or if the waiting task is cancelled.
    package static func value<Value: Sendable>(
        of task: Task<Value, Never>,
        within limit: Duration,
        clock: any LoginClock
    ) async -> Value? {
        let first = FirstValue<Value?>()
        let deadline = clock.now &+ limit.nanoseconds
        let waiter = Task { first.set(await task.value) }
        let alarm = Task { if (try? await clock.sleep(until: deadline)) != nil { first.set(nil) } }
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
