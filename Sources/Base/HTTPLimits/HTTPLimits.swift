// SPDX-License-Identifier: Apache-2.0

/// The limits for HTTP clients: the size of requests, the time they may take, and the number of connections.
///
/// Without limits, a single machine could use all connections by sending requests slowly and never finishing them
/// (slowloris). The names, units and bounds of the settings are in ``settings``.
public struct HTTPLimits: Sendable, Hashable {
    /// The maximum length of a request line in bytes.
    ///
    /// A longer request line is answered with 414.
    public var requestLine = 8192
    /// The maximum length of a header field in bytes.
    ///
    /// A longer field is answered with 431.
    public var fieldLine = 16_384
    /// The maximum number of header fields.
    ///
    /// More fields are answered with 431.
    public var fieldCount = 100
    /// The maximum length of a header in bytes, including the request line.
    ///
    /// A longer header is answered with 431.
    public var header = 32_768
    /// The maximum length of a body in bytes.
    ///
    /// A longer body is answered with 413.
    public var body = 65_536

    /// The time limit for the TLS handshake.
    public var handshakeTime = Duration.seconds(10)
    /// The time limit for receiving a header, and for receiving the first byte of a new connection.
    public var headerTime = Duration.seconds(10)
    /// The time after the start of a body in which the body may arrive at any rate.
    ///
    /// After this time ``bodyRate`` applies.
    public var bodyTime = Duration.seconds(10)
    /// The minimum rate of a body after ``bodyTime``, in bytes a second.
    public var bodyRate = 500
    /// The maximum time without data between two requests of a connection.
    public var idleTime = Duration.seconds(60)
    /// The maximum time for which responses wait while the client reads nothing.
    ///
    /// The server notices what the client reads in steps of about 32 KiB.
    public var writeTime = Duration.seconds(20)

    /// The maximum number of connections.
    ///
    /// For a further connection, the idlest connection of the address with the most is closed.
    public var connections = 10_000
    /// The maximum number of connections of one IPv4 address, or of one IPv6 network with a prefix of 64 bits.
    public var connectionsPerAddress = 1024
    /// The maximum number of requests in progress on one HTTP/2 connection.
    ///
    /// Further requests are refused.
    public var streams = 100

    /// The defaults.
    public init() {}
}
