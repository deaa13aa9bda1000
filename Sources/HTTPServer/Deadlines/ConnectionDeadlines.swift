// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The deadlines of one connection, the same for HTTP/1 and HTTP/2.
///
/// It stores the start times of the current operations. The connection compares them with the limits at each tick of
/// its ``ConnectionLoop``. All times are those of ``ConnectionLoop/now``, in nanoseconds.
struct ConnectionDeadlines {
    /// The start of the connection's state, or of the header that is being received.
    private var start: UInt64
    /// The time when the client stopped reading; nil while it reads.
    private var blockedSince: UInt64?
    /// The time when a task began to wait for a part of its response to be sent; nil while none waits.
    private var awaitedSince: UInt64?
    /// The number of bytes that were not sent at the last tick.
    private var unsentCount = 0
    private var hasReceivedRequest = false

    init(at now: UInt64) {
        start = now
    }

    // MARK: - Events of the connection

    /// Starts the time of a new state, or of a header.
    mutating func restart(at now: UInt64) { start = now }

    /// Records a request: from now on the connection may be silent for the time of an idle one.
    mutating func noteRequest() { hasReceivedRequest = true }

    /// Records whether the client reads the bytes that are sent.
    mutating func noteWritability(_ isWritable: Bool, at now: UInt64) { blockedSince = isWritable ? nil : now }

    /// Records that a task waits for a part of its response to be sent.
    mutating func noteAwaited(at now: UInt64) { awaitedSince = now }

    /// Records that no task waits any more.
    mutating func endAwaited() { awaitedSince = nil }

    /// True if the client reads the bytes that are sent.
    var isWritable: Bool { blockedSince == nil }

    /// True if bytes wait for the client to read them, so that the time limit applies.
    var isWriteTimed: Bool { blockedSince != nil || awaitedSince != nil }

    /// Restarts the time limit if the client has read some of the waiting bytes.
    ///
    /// The kernel takes more in steps of 32 KiB, so slower progress is not noticed.
    mutating func noteUnsent(_ count: Int, at now: UInt64) {
        if count < unsentCount {
            if blockedSince != nil { blockedSince = now }
            if awaitedSince != nil { awaitedSince = now }
        }
        unsentCount = count
    }

    // MARK: - Checks

    /// Returns whether the client has not read anything for too long.
    func isWriteOverdue(at now: UInt64, times: DeadlineTimes) -> Bool {
        if let blockedSince, now &- blockedSince > times.write { return true }
        if let awaitedSince, now &- awaitedSince > times.write { return true }
        return false
    }

    /// Returns whether the TLS handshake has taken too long.
    func isHandshakeOverdue(at now: UInt64, times: DeadlineTimes) -> Bool { now &- start > times.handshake }

    /// Returns whether an incomplete header has taken too long.
    func isHeaderOverdue(at now: UInt64, times: DeadlineTimes) -> Bool { now &- start > times.header }

    /// Returns whether no request has begun for too long.
    func isRequestOverdue(at now: UInt64, times: DeadlineTimes) -> Bool {
        now &- start > (hasReceivedRequest ? times.idle : times.header)
    }

    /// Returns whether the client has taken too long to receive the last response.
    func isLastResponseOverdue(at now: UInt64, times: DeadlineTimes) -> Bool { now &- start > times.write }

    /// Returns whether the client has received everything and has taken too long to close the connection.
    func isCloseOverdue(at now: UInt64, times: DeadlineTimes) -> Bool { now &- start > times.linger }
}
