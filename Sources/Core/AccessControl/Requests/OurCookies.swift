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
