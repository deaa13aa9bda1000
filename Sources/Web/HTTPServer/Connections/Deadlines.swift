// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import HTTPLimits

/// The deadlines of one HTTP/1 or HTTP/2 connection.
///
/// It stores the start times of the current operations; the connection checks them at each tick of its
/// ``EventLoopState``. All times are in nanoseconds and come from ``EventLoopState/now``.
struct ConnectionDeadlines {
    /// The start of the connection's state, or of the header that is being received.
    private var start: UInt64
    /// The time when the client stopped reading; nil while the client reads.
    private var blockedSince: UInt64?
    /// The time when a task began to wait until a part of its response is sent; nil while no task waits.
    private var awaitedSince: UInt64?
    /// The number of bytes that were not sent at the last tick.
    private var unsentCount = 0
    private var hasReceivedRequest = false

    init(at now: UInt64) { start = now }

    // MARK: - Events of the connection

    /// Begins a new state or a new header.
    mutating func restart(at now: UInt64) { start = now }

    /// After the first request, ``TimeLimits/idle`` applies to the time between requests.
    mutating func recordRequest() { hasReceivedRequest = true }

    mutating func recordWritability(_ isWritable: Bool, at now: UInt64) { blockedSince = isWritable ? nil : now }

    mutating func beginAwaitedWrite(at now: UInt64) { awaitedSince = now }

    mutating func endAwaitedWrite() { awaitedSince = nil }

    var isWritable: Bool { blockedSince == nil }

    /// True if bytes wait for the client to read them, so that the time limit for writing applies.
    var isWriteTimed: Bool { blockedSince != nil || awaitedSince != nil }

    /// Restarts the time limit if the client has read some of the waiting bytes.
    ///
    /// The kernel accepts more bytes in steps of 32 KiB. Progress within a step is not visible.
    mutating func recordUnsentCount(_ count: Int, at now: UInt64) {
        if count < unsentCount {
            if blockedSince != nil { blockedSince = now }
            if awaitedSince != nil { awaitedSince = now }
        }
        unsentCount = count
    }

    // MARK: - Checks

    /// Returns the time since the start of the connection's state.
    func elapsed(at now: UInt64) -> UInt64 { now &- start }

    func isWriteOverdue(at now: UInt64, times: TimeLimits) -> Bool {
        if let blockedSince, now &- blockedSince > times.write { return true }
        if let awaitedSince, now &- awaitedSince > times.write { return true }
        return false
    }

    func isRequestOverdue(at now: UInt64, times: TimeLimits) -> Bool {
        now &- start > (hasReceivedRequest ? times.idle : times.header)
    }
}

/// The time limits of ``HTTPLimits`` in nanoseconds.
struct TimeLimits {
    let handshake, header, body, idle, write: UInt64
    /// The minimum number of body bytes a second, after the time `body` has passed.
    let bodyRate: Int
    /// The time limit for a client to close the connection after the last response.
    let linger: UInt64 = 5_000_000_000

    init(_ limits: HTTPLimits) {
        handshake = limits.handshakeTime.nanoseconds
        header = limits.headerTime.nanoseconds
        body = limits.bodyTime.nanoseconds
        idle = limits.idleTime.nanoseconds
        write = limits.writeTime.nanoseconds
        bodyRate = limits.bodyRate
    }
}

/// The rate at which the body of a request arrives.
///
/// During the first ``TimeLimits/body`` nanoseconds any rate is accepted. After that the body must arrive at the rate
/// ``TimeLimits/bodyRate``.
struct BodyPace {
    private(set) var receivedCount = 0
    /// The time when the body began, plus the excluded periods; it can be later than the current time.
    private var start: UInt64

    init(at now: UInt64) { start = now }

    mutating func recordReceived(_ count: Int) { receivedCount += count }

    /// Excludes a period in which the client could not send from the measurement.
    mutating func exclude(_ nanoseconds: UInt64) { start &+= nanoseconds }

    func isTooSlow(at now: UInt64, times: TimeLimits) -> Bool {
        guard now > start else { return false }
        let elapsed = now - start
        guard elapsed > times.body else { return false }
        return Double(receivedCount) < Double(elapsed - times.body) / 1e9 * Double(times.bodyRate)
    }
}
