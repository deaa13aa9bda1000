// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A connection in the list of its ``ConnectionLoop``, which calls these functions.
class HTTPConnection {
    var next: HTTPConnection?
    var previous: HTTPConnection?

    /// Ends the connection if one of its deadlines has passed.
    ///
    /// - Parameter now: The time in nanoseconds, as of ``ConnectionLoop/now``.
    func expire(_ now: UInt64) {}

    /// Ends the connection as soon as the requests that have begun on it are answered.
    func drain() {}

    /// Ends the connection now.
    func abort() {}

    /// Sends the responses that wait; requested with ``ConnectionLoop/flushLater(_:)``.
    func flushNow() {}
}
