// SPDX-License-Identifier: Apache-2.0
// Gatehouse

extension ServerSettings {
    /// What a client of the server may do, as the `limits` block of realms.conf says.
    public struct Limits: Sendable, Hashable {
        /// The longest request line, in bytes.
        public var requestLine = 8192
        /// The longest header field, in bytes.
        public var fieldLine = 8192
        /// How many header fields there may be.
        public var fieldCount = 100
        /// The longest header, request line included, in bytes.
        public var header = 32_768
        /// The longest body, in bytes.
        public var body = 65_536
        /// How long the TLS handshake may take.
        public var handshakeTime = Duration.seconds(10)
        /// How long a header may take.
        public var headerTime = Duration.seconds(10)
        /// How long a body may take before its rate counts.
        public var bodyTime = Duration.seconds(10)
        /// How many bytes of a body have to come each second after that.
        public var bodyRate = 500
        /// How long a connection may be silent between two requests.
        public var idleTime = Duration.seconds(60)
        /// How long a client may take none of its answer.
        public var writeTime = Duration.seconds(20)
        /// How many connections may be open.
        public var connections = 10_000
        /// How many connections one address may have open.
        public var connectionsPerAddress = 1024
        /// How many requests of an HTTP/2 connection may be answered at a time.
        public var streams = 100

        /// The defaults.
        public init() {}
    }
}
