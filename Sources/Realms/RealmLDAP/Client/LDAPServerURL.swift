// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Bytes
internal import RealmKit

/// The URL of a directory server: `ldap`, `ldaps` or `ldapi`, without the parts of a search (RFC 4516).
struct LDAPServerURL: Sendable, Hashable {
    /// The transports.
    enum Scheme: String, Sendable, Hashable {
        /// TCP, without TLS or with StartTLS.
        case ldap
        /// TLS from the beginning.
        case ldaps
        /// A socket of this machine.
        case ldapi
    }

    let scheme: Scheme
    /// The host name or the address, without brackets; the path of the socket for `ldapi`.
    let host: String
    let port: Int

    /// The URL for libldap and for messages.
    var text: String {
        switch scheme {
        case .ldap, .ldaps: "\(scheme.rawValue)://\(host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host):\(port)"
        case .ldapi: "ldapi://\(host)"
        }
    }

    /// True if the connection does not leave this machine.
    var isLocal: Bool {
        if scheme == .ldapi || ["localhost", "ip6-localhost"].contains(host.lowercased()) { return true }
        guard let address = NetworkAddress(host[...]) else { return false }
        return address.isLoopback
    }

    /// Reads a URL.
    ///
    /// - Parameter text: The URL; the port is 389 for `ldap` and 636 for `ldaps` by default.
    /// - Throws: ``BadValue`` if it is none, or has a user name, a path or a query.
    init(_ text: String) throws(BadValue) {
        // The text before an at sign may be a password.
        let found = text.utf8.contains(UInt8(ascii: "@")) ? "a URL with a user name or a password" : text
        let expected = BadValue("takes URLs such as ldaps://ldap.example.org:636, not \(found)")
        guard let colon = text.utf8.firstRange(of: "://".utf8),
            let scheme = Scheme(rawValue: text[..<colon.lowerBound].lowercased())
        else { throw expected }
        var rest = text[colon.upperBound...]
        if rest.utf8.last == UInt8(ascii: "/"), scheme != .ldapi { rest = rest.dropLast() }
        self.scheme = scheme
        if scheme == .ldapi {
            guard rest.utf8.first == UInt8(ascii: "/"), rest.utf8.count < 108, Self.isPlain(rest, allowing: "/") else {
                throw BadValue("takes the path of a socket, such as ldapi:///run/slapd/ldapi, not \(found)")
            }
            (host, port) = (String(rest), 0)
            return
        }
        var portText: Substring?
        if rest.utf8.first == UInt8(ascii: "[") {
            guard let end = rest.utf8.firstIndex(of: UInt8(ascii: "]")) else { throw expected }
            host = String(rest[rest.utf8.index(after: rest.startIndex)..<end])
            guard NetworkAddress(host[...]) != nil else { throw expected }
            rest = rest[rest.utf8.index(after: end)...]
            if rest.utf8.first == UInt8(ascii: ":") {
                portText = rest.dropFirst()
            } else if !rest.isEmpty {
                throw expected
            }
        } else {
            let parts = rest.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = parts.first, !name.isEmpty, Self.isPlain(name, allowing: "") else { throw expected }
            host = String(name)
            portText = parts.count > 1 ? parts[1] : nil
        }
        guard let portText else {
            port = scheme == .ldaps ? 636 : 389
            return
        }
        guard portText.utf8.allSatisfy(ASCII.isDigit), let number = Int(portText), (1...65535).contains(number) else {
            throw expected
        }
        port = number
    }

    private static func isPlain(_ text: Substring, allowing others: String) -> Bool {
        text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                true
            default: others.utf8.contains(byte)
            }
        }
    }
}
#endif
