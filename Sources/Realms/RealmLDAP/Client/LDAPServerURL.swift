// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Bytes
internal import RealmKit

/// The URL of a directory server: `ldap`, `ldaps` or `ldapi`, without the parts of a search (RFC 4516).
struct LDAPServerURL: Sendable, Hashable {
    enum Scheme: String, Sendable, Hashable { case ldap, ldaps, ldapi }

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
        return NetworkAddress(host[...])?.isLoopback == true
    }

    /// Reads a URL without a user name, a path and a query; the port is 389 for `ldap` and 636 for `ldaps` by default.
    init(_ text: String) throws(BadValue) {
        // The text before an at sign may be a password.
        let found = text.utf8.contains(UInt8(ascii: "@")) ? "a URL with a user name or a password" : text
        let expected = BadValue("takes URLs such as ldaps://ldap.example.org:636, not \(found)")
        guard let colon = text.utf8.firstRange(of: "://".utf8),
            let scheme = Scheme(rawValue: text[..<colon.lowerBound].lowercased())
        else { throw expected }
        var rest = text[colon.upperBound...]
        self.scheme = scheme
        if scheme == .ldapi {
            guard rest.utf8.first == UInt8(ascii: "/"), rest.utf8.count < 108, Self.isPlain(rest, allowing: "/") else {
                throw BadValue("takes the path of a socket, such as ldapi:///run/slapd/ldapi, not \(found)")
            }
            (host, port) = (String(rest), 0)
            return
        }
        if rest.utf8.last == UInt8(ascii: "/") { rest = rest.dropLast() }
        let end: Substring.Index
        if rest.utf8.first == UInt8(ascii: "[") {
            guard let bracket = rest.utf8.firstIndex(of: UInt8(ascii: "]")) else { throw expected }
            end = rest.utf8.index(after: bracket)
            host = String(rest[rest.utf8.index(after: rest.startIndex)..<bracket])
            guard NetworkAddress(host[...]) != nil else { throw expected }
        } else {
            end = rest.utf8.firstIndex(of: UInt8(ascii: ":")) ?? rest.endIndex
            host = String(rest[..<end])
            guard !host.isEmpty, Self.isPlain(rest[..<end], allowing: "") else { throw expected }
        }
        guard end < rest.endIndex else {
            port = scheme == .ldaps ? 636 : 389
            return
        }
        let digits = rest[end...].utf8.dropFirst()
        guard rest.utf8[end] == UInt8(ascii: ":"), digits.allSatisfy(ASCII.isDigit),
            let number = Int(Substring(digits)),
            (1...65535).contains(number)
        else { throw expected }
        port = number
    }

    private static func isPlain(_ text: Substring, allowing others: String) -> Bool {
        text.utf8.allSatisfy { $0.isAlphanumeric || "-._".utf8.contains($0) || others.utf8.contains($0) }
    }
}
#endif
