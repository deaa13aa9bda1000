// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The time, as far as logins need it: how long a module took, and when it has taken too long.
///
/// The library has no clock of its own; executables bring the system's, tests a manual one.
public protocol LoginClock: Sendable {
    /// Nanoseconds since some fixed moment; never runs backwards.
    var now: UInt64 { get }

    /// Waits until ``now`` has reached a moment.
    ///
    /// - Parameter deadline: The moment; one that has passed returns at once.
    /// - Throws: `CancellationError` when the task is cancelled.
    func sleep(until deadline: UInt64) async throws(CancellationError)
}
