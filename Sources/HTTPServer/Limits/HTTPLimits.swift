// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// How much a client may send, how long it may take, and how many may be here at a time.
///
/// Without bounds, one machine that sends slowly and ends nothing keeps everybody else out (slowloris).
public struct HTTPLimits: Sendable, Hashable {
    /// The longest request line in bytes, beyond which the answer is 414.
    public var requestLine = 8192
    /// The longest header field in bytes, beyond which the answer is 431.
    public var fieldLine = 8192
    /// How many header fields there may be, beyond which the answer is 431.
    public var fieldCount = 100
    /// The longest head in bytes, request line included, beyond which the answer is 431; 1 MiB at most.
    public var head = 32_768
    /// The longest body in bytes, beyond which the answer is 413.
    public var body = 65_536

    /// How long the TLS handshake may take.
    public var handshakeTime = Duration.seconds(10)
    /// How long a head may take, and how long a new connection may be silent.
    public var headTime = Duration.seconds(10)
    /// How long a body may take before its rate counts.
    public var bodyTime = Duration.seconds(10)
    /// How many bytes a second of a body have to come after ``bodyTime``.
    public var bodyRate = 500
    /// How long a connection may be silent between two requests.
    public var idleTime = Duration.seconds(60)
    /// How long a client may take none of the answers that wait for it; some 32 KiB at a time are what is noticed.
    public var writeTime = Duration.seconds(20)

    /// How many requests of an HTTP/2 connection may be answered at a time; beyond it they are refused.
    public var streams = 100
    /// How many connections may be open at a time.
    public var connections = 10_000
    /// How many connections one address may have open at a time; of IPv6, one network of 64 bits.
    public var connectionsPerAddress = 1024

    /// The defaults.
    public init() {}
}
