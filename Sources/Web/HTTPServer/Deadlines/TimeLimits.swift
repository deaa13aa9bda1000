// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import HTTPLimits

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
