// SPDX-License-Identifier: Apache-2.0

package import Sessions

/// The cookies of Gatehouse in a request (RFC 6265 section 4.2).
///
/// The server always writes a cookie in the same way, so names are compared byte by byte, and quotes are part of
/// the value. Reading does not allocate memory.
package struct OurCookies: Sendable {
    package init() {}

    /// The result of reading one cookie.
    package enum Found: Sendable {
        case none
        /// The cookie was sent once, and its value has the format of a token.
        case token(OpaqueToken)
        /// The cookie was sent once, and its value does not have the format of a token.
        case unreadable
        /// The cookie was sent more than once, so at least one value is not from the server (cookie tossing).
        case repeated

        package var isToken: Bool {
            if case .token = self { true } else { false }
        }
    }

    static let sessionName: StaticString = "__Host-gatehouse"
    static let signInName: StaticString = "__Host-gatehouse-sign-in"
    static let verifierName: StaticString = "__Host-gatehouse-verifier"

    package private(set) var session = Found.none
    /// The cookie that a sign-in is bound to.
    package private(set) var signIn = Found.none
    /// The cookie that a hand-over is bound to.
    package private(set) var verifier = Found.none

    /// Reads a `Cookie` field, of which a request of HTTP/2 may have several.
    package mutating func read(_ field: Span<UInt8>) {
        Self.forEachPair(in: field) { take($0) }
    }

    /// Collects the tokens of all session cookies in a `Cookie` field: a script can set a second one in a partition,
    /// and if one of them ends, the other must end too.
    static func collectSessions(in field: Span<UInt8>, into tokens: inout [OpaqueToken]) {
        forEachPair(in: field) { pair in
            guard isNamed(pair, sessionName) else { return }
            if let token = token(in: pair, sessionName) { tokens.append(token) }
        }
    }

    private static func forEachPair(in field: Span<UInt8>, _ body: (Span<UInt8>) -> Void) {
        var start = 0
        while start < field.count {
            var end = start
            while end < field.count, field[end] != UInt8(ascii: ";") { end += 1 }
            while start < end, isBlank(field[start]) { start += 1 }
            var last = end
            while last > start, isBlank(field[last - 1]) { last -= 1 }
            body(field.extracting(start..<last))
            start = end + 1
        }
    }

    private mutating func take(_ pair: Span<UInt8>) {
        if Self.isNamed(pair, Self.sessionName) { session = Self.found(pair, Self.sessionName, after: session) }
        if Self.isNamed(pair, Self.signInName) { signIn = Self.found(pair, Self.signInName, after: signIn) }
        if Self.isNamed(pair, Self.verifierName) { verifier = Self.found(pair, Self.verifierName, after: verifier) }
    }

    private static func found(_ pair: Span<UInt8>, _ name: StaticString, after before: Found) -> Found {
        switch before {
        case .none: token(in: pair, name).map(Found.token) ?? .unreadable
        case .token, .unreadable, .repeated: .repeated
        }
    }

    private static func token(in pair: Span<UInt8>, _ name: StaticString) -> OpaqueToken? {
        OpaqueToken(pair.extracting((name.utf8CodeUnitCount + 1)..<pair.count))
    }

    private static func isNamed(_ pair: Span<UInt8>, _ name: StaticString) -> Bool {
        let length = name.utf8CodeUnitCount
        guard pair.count > length, pair[length] == UInt8(ascii: "=") else { return false }
        return name.withUTF8Buffer { name in
            for index in 0..<length where pair[index] != (unsafe name[index]) { return false }
            return true
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}

/// The values of `Set-Cookie` fields.
///
/// Most cookies have no `Max-Age`, so a browser deletes them when it is closed. They have no `Domain`, so a browser
/// does not send them to other hosts. Their names begin with `__Host-`, so a browser accepts them only from the same
/// host over TLS. Source: RFC 6265bis section 4.1.3.
package enum SetCookie {
    /// Sets the cookie that a sign-in is bound to, in place of all cookies of its name; browsers send it only with
    /// requests from the same site.
    package static func signIn(_ token: OpaqueToken, replacing present: OurCookies.Found) -> [String] {
        partitionedRemoval(OurCookies.signInName, present)
            + ["\(OurCookies.signInName)=\(token.text)\(common)\(strict)"]
    }

    /// Sets the cookie that a hand-over is bound to; browsers also send it after a redirect from the sign-in host,
    /// which may be another site.
    ///
    /// It is one field, because some proxies pass on only one (``partitionedVerifierRemoval(_:)``).
    package static func verifier(_ token: OpaqueToken) -> String {
        "\(OurCookies.verifierName)=\(token.text)\(common)\(lax); Max-Age=3600"
    }

    /// Sets the session cookie in place of all cookies of its name; browsers also send it when a user follows a link
    /// from another site.
    ///
    /// A script of the host can set a partitioned cookie of this name (CHIPS). A browser with both sends both, and no
    /// session is found. So a partitioned cookie is removed if the browser has sent any cookie of this name.
    package static func session(_ token: OpaqueToken, replacing present: OurCookies.Found) -> [String] {
        partitionedRemoval(OurCookies.sessionName, present) + ["\(OurCookies.sessionName)=\(token.text)\(common)\(lax)"]
    }

    package static func sessionRemoval(_ present: OurCookies.Found) -> [String] {
        partitionedRemoval(OurCookies.sessionName, present)
            + ["\(OurCookies.sessionName)=\(common)\(lax); Max-Age=0"]
    }

    private static func partitionedRemoval(_ name: StaticString, _ present: OurCookies.Found) -> [String] {
        if case .none = present { return [] }
        return ["\(name)=\(common); SameSite=None; Partitioned; Max-Age=0"]
    }

    package static let signInRemoval = "\(OurCookies.signInName)=\(common)\(strict); Max-Age=0"

    package static func partitionedVerifierRemoval(_ present: OurCookies.Found) -> [String] {
        partitionedRemoval(OurCookies.verifierName, present)
    }

    package static let verifierRemoval = "\(OurCookies.verifierName)=\(common)\(lax); Max-Age=0"

    private static let common = "; Path=/; Secure; HttpOnly"
    private static let lax = "; SameSite=Lax"
    private static let strict = "; SameSite=Strict"
}
