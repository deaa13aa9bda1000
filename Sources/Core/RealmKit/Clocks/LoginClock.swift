// SPDX-License-Identifier: Apache-2.0

/// A clock for the durations and deadlines of logins.
///
/// The library has no clock of its own. Executables provide the system clock, and tests provide a manual clock. A clock
/// may be used from any thread.
public protocol LoginClock: Sendable {
    /// The time in nanoseconds since a fixed moment; it never runs backwards.
    var now: UInt64 { get }

    /// Waits until ``now`` has reached a time.
    ///
    /// - Parameter deadline: The time. If it has already passed, the call returns at once.
    /// - Throws: `CancellationError` if the task is cancelled.
    func sleep(until deadline: UInt64) async throws(CancellationError)
}
