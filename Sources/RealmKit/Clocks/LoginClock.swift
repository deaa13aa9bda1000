// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A clock for the durations and deadlines of logins.
///
/// The library has no clock of its own: executables provide the system's, tests a manual one. It may be used from any
/// thread.
public protocol LoginClock: Sendable {
    /// The time in nanoseconds since a fixed moment; it never runs backwards.
    var now: UInt64 { get }

    /// Waits until ``now`` has reached a time.
    ///
    /// - Parameter deadline: The time; one that has passed returns at once.
    /// - Throws: `CancellationError` if the task is cancelled.
    func sleep(until deadline: UInt64) async throws(CancellationError)
}
