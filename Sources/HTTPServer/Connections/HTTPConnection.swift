// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A connection in the list of a ``EventLoopState``.
///
/// The loop calls these functions.
class HTTPConnection {
    var next: HTTPConnection?
    var previous: HTTPConnection?

    /// Ends the connection if one of its deadlines has passed.
    ///
    /// - Parameter now: The time in nanoseconds, from ``EventLoopState/now``.
    func expire(_ now: UInt64) {}

    /// Ends the connection after the requests that have begun are answered.
    func drain() {}

    /// Ends the connection now.
    func abort() {}

    /// Sends the waiting responses.
    ///
    /// ``EventLoopState/flushLater(_:)`` schedules this call.
    func flushNow() {}
}
