// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Bytes

/// The host that a session belongs to: the one its cookie was set for, without a port, as cookies have none.
///
/// Two are equal when their bytes are.
public struct SessionHost: Sendable {
    /// The longest name of a host, in bytes.
    public static let maximumBytes = 255

    /// A name in lower case without a dot at its end, an IPv4 address, or an IPv6 address in brackets.
    public let name: String

    /// A host.
    ///
    /// - Parameter name: Its name as ``name`` is written; nil if it is empty, too long, or holds other characters than
    ///   lower-case letters and digits of ASCII, `.`, `-`, `_`, and `[`, `:` and `]` of an address.
    public init?(_ name: String) {
        let bytes = name.utf8
        guard (1...Self.maximumBytes).contains(bytes.count), bytes.allSatisfy(Self.isAllowed) else { return nil }
        self.name = name
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."),
            UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "["), UInt8(ascii: ":"), UInt8(ascii: "]"):
            true
        default: false
        }
    }
}

extension SessionHost: Hashable {
    /// Returns whether the bytes are the same.
    public static func == (left: SessionHost, right: SessionHost) -> Bool { left.name.hasBytes(of: right.name) }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) { name.hashBytes(into: &hasher) }
}

extension SessionHost: CustomStringConvertible {
    /// The name.
    public var description: String { name }
}
