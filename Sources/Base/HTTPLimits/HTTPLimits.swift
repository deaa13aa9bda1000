// SPDX-License-Identifier: Apache-2.0

/// The limits for HTTP clients: the size of requests, the time they may take, and the number of connections.
///
/// Without limits, a single machine could use all connections by sending requests slowly and never finishing them
/// (slowloris). The names, units and bounds of the settings are in ``settings``.
public struct HTTPLimits: Sendable, Hashable {
    /// The maximum length of a request line in bytes; a longer one is answered with 414.
    public var requestLine = 8192
    /// The maximum length of a header field in bytes; a longer one is answered with 431.
    public var fieldLine = 16_384
    /// The maximum number of header fields; more are answered with 431.
    public var fieldCount = 100
    /// The maximum length of a header in bytes, including the request line; a longer one is answered with 431.
    public var header = 32_768
    /// The maximum length of a body in bytes; a longer one is answered with 413.
    public var body = 65_536

    /// The time limit for the TLS handshake.
    public var handshakeTime = Duration.seconds(10)
    /// The time limit for receiving a header, and for receiving the first byte of a new connection.
    public var headerTime = Duration.seconds(10)
    /// The time after the start of a body in which the body may arrive at any rate; then ``bodyRate`` applies.
    public var bodyTime = Duration.seconds(10)
    /// The minimum rate of a body after ``bodyTime``, in bytes a second.
    public var bodyRate = 500
    /// The maximum time without data between two requests of a connection.
    public var idleTime = Duration.seconds(60)
    /// The maximum time for which responses wait while the client reads nothing.
    ///
    /// The server notices what the client reads in steps of about 32 KiB.
    public var writeTime = Duration.seconds(20)

    /// The maximum number of connections; for a further one, the idlest of the address with the most is closed.
    public var connections = 10_000
    /// The maximum number of connections of one IPv4 address, or of one IPv6 network with a prefix of 64 bits.
    public var connectionsPerAddress = 1024
    /// The maximum number of requests in progress on one HTTP/2 connection; further ones are refused.
    public var streams = 100

    /// The defaults.
    public init() {}
}

extension HTTPLimits {
    /// A setting of the `limits` block in realms.conf, whose default is the value in ``HTTPLimits/init()``.
    public struct Setting: Sendable {
        /// The limit that a setting changes, and the bounds of the limit.
        public enum Value: Sendable {
            /// A whole number. Lengths are in bytes, and rates in bytes a second.
            case integer(any WritableKeyPath<HTTPLimits, Int> & Sendable, bounds: ClosedRange<Int>)
            /// A time.
            case duration(any WritableKeyPath<HTTPLimits, Duration> & Sendable, bounds: ClosedRange<Duration>)
        }

        /// The setting's keyword.
        public let name: String
        /// The limit and its bounds.
        public let value: Value

        fileprivate init(
            _ name: String,
            sets limit: any WritableKeyPath<HTTPLimits, Int> & Sendable,
            in bounds: ClosedRange<Int>
        ) {
            self.name = name
            value = .integer(limit, bounds: bounds)
        }

        fileprivate init(_ name: String, sets limit: any WritableKeyPath<HTTPLimits, Duration> & Sendable) {
            self.name = name
            value = .duration(limit, bounds: .milliseconds(250)...(.seconds(86_400)))
        }
    }

    /// All settings, in the order of the documentation.
    public static let settings = [
        Setting("request-line", sets: \.requestLine, in: 64...262_144),
        Setting("field-line", sets: \.fieldLine, in: 64...262_144),
        Setting("field-count", sets: \.fieldCount, in: 1...1000),
        // The upper bound limits the use of memory, because a whole header is kept in memory.
        Setting("header", sets: \.header, in: 256...1_048_576),
        Setting("body", sets: \.body, in: 0...1_073_741_824),
        Setting("handshake-time", sets: \.handshakeTime),
        Setting("header-time", sets: \.headerTime),
        Setting("body-time", sets: \.bodyTime),
        Setting("body-rate", sets: \.bodyRate, in: 1...1_073_741_824),
        Setting("idle-time", sets: \.idleTime),
        Setting("write-time", sets: \.writeTime),
        Setting("connections", sets: \.connections, in: 1...1_000_000),
        Setting("connections-per-address", sets: \.connectionsPerAddress, in: 1...1_000_000),
        Setting("streams", sets: \.streams, in: 1...1000),
    ]
}
