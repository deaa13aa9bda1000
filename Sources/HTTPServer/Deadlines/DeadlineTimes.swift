// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Bytes
internal import HTTPLimits

/// The times of the limits in nanoseconds, as connections compare them.
struct DeadlineTimes {
    let handshake, header, body, idle, write: UInt64
    /// The bytes a second that must arrive of a body after its time.
    let bodyRate: Int
    /// The longest time for a client to close the connection after it has received the last response.
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
