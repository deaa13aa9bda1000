// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The limits for HTTP clients: the size of requests, the time they may take, and the number of connections.
///
/// Without them, one machine that sends slowly and never finishes a request could use all connections (slowloris).
/// Names, units and bounds of the settings are in ``settings``.
public struct HTTPLimits: Sendable, Hashable {
    /// The longest request line in bytes; a longer one is answered with 414.
    public var requestLine = 8192
    /// The longest header field in bytes; a longer one is answered with 431.
    public var fieldLine = 16_384
    /// The number of header fields; more are answered with 431.
    public var fieldCount = 100
    /// The longest header in bytes, including the request line; a longer one is answered with 431.
    public var header = 32_768
    /// The longest body in bytes; a longer one is answered with 413.
    public var body = 65_536

    /// The longest time for the TLS handshake.
    public var handshakeTime = Duration.seconds(10)
    /// The longest time for a header, and the longest time in which a new connection sends nothing.
    public var headerTime = Duration.seconds(10)
    /// The time for a body before ``bodyRate`` applies.
    public var bodyTime = Duration.seconds(10)
    /// The number of bytes a second that must arrive of a body after ``bodyTime``.
    public var bodyRate = 500
    /// The longest time without data between two requests of a connection.
    public var idleTime = Duration.seconds(60)
    /// The longest time in which a client reads nothing of the answers that wait for it.
    ///
    /// Progress is noticed in steps of about 32 KiB.
    public var writeTime = Duration.seconds(20)

    /// The number of connections.
    public var connections = 10_000
    /// The number of connections of one client address; for IPv6, of one network of 64 bits.
    public var connectionsPerAddress = 1024
    /// The number of requests of one HTTP/2 connection in progress; further ones are refused.
    public var streams = 100

    /// The defaults.
    public init() {}
}
