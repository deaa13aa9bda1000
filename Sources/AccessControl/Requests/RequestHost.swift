// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmConfiguration
internal import RealmKit
package import Sessions

/// The host of a request in canonical form: a name in lower case without a final dot, or an address.
///
/// All spellings of a host give the same value, so that no spelling bypasses a rule.
///
/// Source: RFC 9110 section 7.2, RFC 3986 section 3.2.2; CVE-2026-77560, CVE-2026-48794.
public struct RequestHost: Sendable, Hashable {
    /// The name, or an IPv4 address, or an IPv6 address in brackets.
    public let name: String
    /// The port; nil if the text has no port.
    public let port: UInt16?

    /// The host and port as in a URL, such as `app.example.com` or `app.example.com:8443`.
    public var text: String { port.map { "\(name):\($0)" } ?? name }

    /// The host that sessions belong to: the host without the port.
    package var sessionHost: SessionHost? { SessionHost(name) }

    /// Parses the value of `Host` or `:authority`; nil if it is neither a host name nor an address.
    ///
    /// - Parameter text: A host with or without a `:` and a port. The port may be empty.
    public init?(_ text: String) {
        if text.utf8.first == UInt8(ascii: "[") {
            guard let end = text.utf8.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            let inner = text[text.utf8.index(after: text.startIndex)..<end]
            guard inner.utf8.contains(UInt8(ascii: ":")), !inner.utf8.contains(UInt8(ascii: "%")),
                let address = NetworkAddress(inner)
            else { return nil }
            let rest = text[text.utf8.index(after: end)...]
            guard let port = Self.port(rest) else { return nil }
            self.name = "[\(address.version6Text)]"
            self.port = port > 0 ? port : nil
        } else {
            let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex
            guard let name = HostName.canonical(text[..<colon]), let port = Self.port(text[colon...]) else {
                return nil
            }
            self.name = name
            self.port = port > 0 ? port : nil
        }
    }

    /// Parses the port after a `:`.
    ///
    /// The result is 0 if the text has no port, and nil if the port is invalid.
    private static func port(_ text: Substring) -> UInt16? {
        guard let colon = text.utf8.first else { return 0 }
        let digits = text.utf8.dropFirst()
        guard colon == UInt8(ascii: ":"), digits.count <= 5, digits.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        guard !digits.isEmpty else { return 0 }
        guard let port = UInt16(text.dropFirst()), port > 0 else { return nil }
        return port
    }
}
