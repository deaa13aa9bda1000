// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A connection in the list of its event loop, which tells it of time and of the server's end.
class LoopMember {
    var next: LoopMember?
    var previous: LoopMember?

    /// Ends the connection if it has gone beyond one of its deadlines.
    ///
    /// - Parameter now: The clock's hand, in nanoseconds.
    func expire(_ now: UInt64) {}

    /// Ends the connection as soon as what has begun on it is done.
    func drain() {}

    /// Ends the connection as soon as what has begun on it is done, while others come and go on.
    func retire() { drain() }

    /// Ends the connection.
    func abort() {}

    /// Sends what has been put together; asked for with ``ConnectionLoop/flushLater(_:)``.
    func flushNow() {}
}
