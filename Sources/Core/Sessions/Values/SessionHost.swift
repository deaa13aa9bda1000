// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// The host that a session belongs to.
///
/// It is the host whose response has set the session cookie.
///
/// It has no port, because browsers send a cookie to all ports of a host. Two hosts are equal if their bytes are equal.
public struct SessionHost: Sendable {
    /// The maximum length of the name, in bytes.
    public static let maximumBytes = 255

    /// A lower-case name without a final dot, an IPv4 address, or an IPv6 address in brackets.
    public let name: String

    /// A host.
    ///
    /// The result is nil if the name is empty or too long, or contains characters other than lower-case ASCII letters,
    /// digits, `.`, `-`, `_`, `[`, `:` and `]`.
    ///
    /// - Parameter name: The name, in the form that ``name`` documents.
    public init?(_ name: String) {
        let bytes = name.utf8
        guard (1...Self.maximumBytes).contains(bytes.count), bytes.allSatisfy(Self.isAllowed) else { return nil }
        self.name = name
    }

    /// A host whose name has been checked already.
    ///
    /// - Parameter name: The name, in the form that ``name`` documents.
    package init(checked name: String) { self.name = name }

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
