// SPDX-License-Identifier: Apache-2.0

extension HTTPLimits {
    /// A setting of the `limits` block in realms.conf.
    ///
    /// Its default is the value in ``HTTPLimits/init()``.
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
