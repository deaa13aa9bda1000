// SPDX-License-Identifier: Apache-2.0

internal import Bytes
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
    package var sessionHost: SessionHost { SessionHost(checked: name) }

    /// Parses the value of `Host` or `:authority`, with or without a `:` and a port, which may be empty; nil if it is
    /// neither a host name nor an address.
    public init?(_ text: String) {
        if text.utf8.first == UInt8(ascii: "[") {
            guard let end = text.utf8.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            let inner = text[text.utf8.index(after: text.startIndex)..<end]
            guard inner.utf8.contains(UInt8(ascii: ":")), !inner.utf8.contains(UInt8(ascii: "%")),
                let address = NetworkAddress(inner)
            else { return nil }
            let rest = text[text.utf8.index(after: end)...]
            guard let port = Self.port(rest.utf8Span.span) else { return nil }
            self.name = "[\(address.version6Text)]"
            self.port = port > 0 ? port : nil
        } else {
            let bytes = text.utf8Span.span
            var colon = 0
            while colon < bytes.count, bytes[colon] != UInt8(ascii: ":") { colon += 1 }
            guard let name = HostName.canonical(bytes.extracting(0..<colon)),
                let port = Self.port(bytes.extracting(colon..<bytes.count))
            else { return nil }
            self.name = name
            self.port = port > 0 ? port : nil
        }
    }

    /// Parses the port after a `:`; 0 if the text has no port, and nil if the port is invalid.
    private static func port(_ bytes: Span<UInt8>) -> UInt16? {
        guard bytes.count > 0 else { return 0 }
        guard bytes[0] == UInt8(ascii: ":"), bytes.count <= 6 else { return nil }
        var port = 0
        for index in 1..<bytes.count {
            guard (0x30...0x39).contains(bytes[index]) else { return nil }
            port = port * 10 + Int(bytes[index] - 0x30)
        }
        guard bytes.count > 1 else { return 0 }
        return port > 0 ? UInt16(exactly: port) : nil
    }
}

/// An HTTP URL, split into parts that are not checked yet.
package struct RequestURL {
    package enum Scheme: String, Sendable, Hashable {
        case http
        case https
    }

    package let scheme: Scheme
    package let authority: String
    /// The path and the query as in the request line; `/` for an empty path.
    package let target: String

    /// Splits a URL; nil if it does not begin with `http://` or `https://`.
    package init?(_ text: String) {
        let bytes = text.utf8Span.span
        let authorityStart: Int
        if bytes.beginsIgnoringCase(with: "https://") {
            (scheme, authorityStart) = (.https, 8)
        } else if bytes.beginsIgnoringCase(with: "http://") {
            (scheme, authorityStart) = (.http, 7)
        } else {
            return nil
        }
        var end = authorityStart
        while end < bytes.count, bytes[end] != UInt8(ascii: "/"), bytes[end] != UInt8(ascii: "?") { end += 1 }
        let authority = text.utf8.prefix(end).dropFirst(authorityStart)
        let target = text.utf8.dropFirst(end)
        self.authority = String(Substring(authority))
        self.target = target.first == UInt8(ascii: "/") ? String(Substring(target)) : "/" + Substring(target)
    }
}
