// SPDX-License-Identifier: Apache-2.0

/// The base class of the HTTP/1 and HTTP/2 connections, with their links in the list of ``EventLoopState``, which calls
/// these functions.
class EventLoopConnection {
    var next: EventLoopConnection?
    var previous: EventLoopConnection?

    /// Ends the connection if one of its deadlines has passed.
    ///
    /// - Parameter now: The time in nanoseconds, from ``EventLoopState/now``.
    func closeIfExpired(at now: UInt64) {}

    /// Ends the connection after the requests that have begun are answered.
    func drain() {}

    /// Ends the connection now.
    func abort() {}

    /// Sends the waiting responses.
    ///
    /// ``EventLoopState/flushLater(_:)`` schedules this call.
    func flushNow() {}
}
