// SPDX-License-Identifier: Apache-2.0

package import Sessions

/// The cookies of Gatehouse in a request.
///
/// The server always writes a cookie in the same way. Therefore names are compared byte by byte, and quotes are part of
/// the value. Reading does not allocate memory. Source: RFC 6265 section 4.2.
package struct OurCookies: Sendable {
    /// No cookies.
    package init() {}

    /// The result of reading one cookie.
    package enum Found: Sendable {
        /// The cookie was not sent.
        case none
        /// The cookie was sent once, and its value has the format of a token.
        case token(OpaqueToken)
        /// The cookie was sent once, and its value does not have the format of a token.
        case unreadable
        /// The cookie was sent more than once.
        ///
        /// At least one of the values is not from the server (cookie tossing).
        case repeated

        /// True if the value of the cookie has the format of a token.
        package var isToken: Bool {
            if case .token = self { true } else { false }
        }
    }

    /// The name of the session cookie.
    static let sessionName: StaticString = "__Host-gatehouse"
    /// The name of the cookie that a sign-in is bound to.
    static let signInName: StaticString = "__Host-gatehouse-sign-in"

    /// The name of the cookie that a hand-over is bound to.
    static let verifierName: StaticString = "__Host-gatehouse-verifier"

    /// The session cookie.
    package private(set) var session = Found.none
    /// The cookie that a sign-in is bound to.
    package private(set) var signIn = Found.none
    /// The cookie that a hand-over is bound to.
    package private(set) var verifier = Found.none

    /// Reads a `Cookie` field.
    ///
    /// A request of HTTP/2 may have several `Cookie` fields.
    ///
    /// - Parameter field: The field's value.
    package mutating func read(_ field: Span<UInt8>) {
        Self.forEachPair(in: field) { take($0) }
    }

    /// Collects the tokens of the session cookies in a `Cookie` field.
    ///
    /// A browser can send two session cookies, one of which a script has set in a partition. If one of them ends, the
    /// other must end too.
    ///
    /// - Parameters:
    ///   - field: The field's value.
    ///   - tokens: The tokens so far.
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
/// Most cookies have no `Max-Age`, so a browser deletes them when it is closed. They have no `Domain`, so a browser does
/// not send them to other hosts. Their names begin with `__Host-`, so a browser accepts them only from the same host
/// over TLS. Source: RFC 6265bis section 4.1.3.
package enum SetCookie {
    /// Sets the cookie that a sign-in is bound to, in place of all cookies of its name.
    ///
    /// Browsers send this cookie only with requests from the same site.
    ///
    /// - Parameters:
    ///   - token: The token of the sign-in.
    ///   - present: The cookie of the request.
    /// - Returns: The values of the `Set-Cookie` fields.
    package static func signIn(_ token: OpaqueToken, replacing present: OurCookies.Found) -> [String] {
        partitionedRemoval(OurCookies.signInName, present)
            + ["\(OurCookies.signInName)=\(token.text)\(common)\(strict)"]
    }

    /// Sets the cookie that a hand-over is bound to.
    ///
    /// Browsers also send this cookie after a redirect from the sign-in host, which may be another site.
    ///
    /// It is one field, because some proxies pass on only one (``partitionedVerifierRemoval(_:)``).
    package static func verifier(_ token: OpaqueToken) -> String {
        "\(OurCookies.verifierName)=\(token.text)\(common)\(lax); Max-Age=3600"
    }

    /// Sets the session cookie in a browser, in place of all cookies of its name.
    ///
    /// Browsers also send this cookie when a user follows a link from another site.
    ///
    /// A script of the host can set a partitioned cookie of this name (CHIPS). A browser with both cookies sends both, and
    /// no session is found. Therefore a partitioned cookie is removed if the browser has sent any cookie of this name.
    ///
    /// - Parameters:
    ///   - token: The token of the session.
    ///   - present: The session cookie of the request.
    /// - Returns: The values of the `Set-Cookie` fields.
    package static func session(_ token: OpaqueToken, replacing present: OurCookies.Found) -> [String] {
        partitionedRemoval(OurCookies.sessionName, present) + ["\(OurCookies.sessionName)=\(token.text)\(common)\(lax)"]
    }

    /// Removes all session cookies of a browser.
    ///
    /// - Parameter present: The session cookie of the request.
    /// - Returns: The values of the `Set-Cookie` fields.
    package static func sessionRemoval(_ present: OurCookies.Found) -> [String] {
        partitionedRemoval(OurCookies.sessionName, present)
            + ["\(OurCookies.sessionName)=\(common)\(lax); Max-Age=0"]
    }

    /// Removes a partitioned cookie, if the browser has sent any cookie of its name.
    private static func partitionedRemoval(_ name: StaticString, _ present: OurCookies.Found) -> [String] {
        if case .none = present { return [] }
        return ["\(name)=\(common); SameSite=None; Partitioned; Max-Age=0"]
    }

    /// Removes the cookie that a sign-in is bound to.
    package static let signInRemoval = "\(OurCookies.signInName)=\(common)\(strict); Max-Age=0"

    /// Removes a partitioned cookie with the name of the cookie that a hand-over is bound to.
    ///
    /// - Parameter present: The cookie of the request.
    /// - Returns: The values of the `Set-Cookie` fields; none if the browser has sent no cookie of this name.
    package static func partitionedVerifierRemoval(_ present: OurCookies.Found) -> [String] {
        partitionedRemoval(OurCookies.verifierName, present)
    }

    /// Removes the cookie that a hand-over is bound to.
    package static let verifierRemoval = "\(OurCookies.verifierName)=\(common)\(lax); Max-Age=0"

    private static let common = "; Path=/; Secure; HttpOnly"
    private static let lax = "; SameSite=Lax"
    private static let strict = "; SameSite=Strict"
}
