// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Workers

/// A clock for the durations and deadlines of logins.
///
/// Executables provide the system clock, and tests a manual clock. A clock may be used from any thread.
public protocol LoginClock: Sendable {
    /// The time in nanoseconds since a fixed moment; it never runs backwards.
    var now: UInt64 { get }

    /// Waits until ``now`` has reached a time, or the task is cancelled; if the time has passed, returns at once.
    func sleep(until deadline: UInt64) async throws(CancellationError)
}

/// A clock for the calendar time, which determines when accounts expire.
public struct WallClock: Sendable {
    private let read: @Sendable () -> Int

    /// Creates a clock from a closure that returns the seconds since 1970, on any thread.
    public init(_ read: @escaping @Sendable () -> Int) { self.read = read }

    /// The seconds since 1970.
    public var seconds: Int { read() }
}

/// A wait for a task with a time limit.
package enum TimeLimitedWait {
    /// Returns the value of a task, which is not cancelled; nil at the limit, or if the waiting task is cancelled.
    package static func value<Value: Sendable>(
        of task: Task<Value, Never>,
        within limit: Duration,
        clock: any LoginClock
    ) async -> Value? {
        let first = FirstValue<Value?>()
        let deadline = clock.now &+ limit.nanoseconds
        // Both begin here, because a change of threads costs more than most of the tasks that are waited for.
        let waiter = Task.immediate { first.set(await task.value) }
        if let value = first.current { return value }
        let alarm = Task.immediate { if (try? await clock.sleep(until: deadline)) != nil { first.set(nil) } }
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
