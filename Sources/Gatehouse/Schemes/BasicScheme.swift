// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit

/// HTTP Basic authentication.
///
/// Source: RFC 7617, RFC 9110 section 11.
public enum BasicScheme {
    /// What the `Authorization` fields of a request come to.
    public enum Presented: Sendable {
        /// No credentials, or those of another scheme.
        case nothing
        /// A name and a password.
        case credentials(BasicCredentials)
        /// Well-formed, but no name and password that anybody could have; to be answered like a wrong password.
        case unusable
        /// Not what the grammar allows; to be answered with 400.
        case malformed(String)
    }

    /// The longest name and password together, in bytes.
    public static let maximumBytes = 5120

    /// The value of a `WWW-Authenticate` field.
    ///
    /// - Parameter realm: The realm's name; it must not hold control characters.
    /// - Returns: The whole value, quoted as RFC 9110 section 5.6.4 has it.
    public static func challenge(realm: String) -> String {
        var quoted = ""
        for character in realm.unicodeScalars {
            if character == "\"" || character == "\\" { quoted.unicodeScalars.append("\\") }
            quoted.unicodeScalars.append(character)
        }
        return "Basic realm=\"\(quoted)\", charset=\"UTF-8\""
    }

    /// Reads the `Authorization` fields of a request.
    ///
    /// - Parameter fields: The value of each such field, in order.
    /// - Returns: What they come to; never more than one pair of credentials.
    public static func read(_ fields: [String]) -> Presented {
        guard let field = fields.first else { return .nothing }
        guard fields.count == 1 else { return .malformed("more than one Authorization field") }
        return read(field.utf8Span.span)
    }

    /// Reads the one `Authorization` field of a request.
    ///
    /// - Parameter field: Its value, without blanks around it.
    /// - Returns: What it comes to.
    public static func read(_ field: Span<UInt8>) -> Presented {
        var end = 0
        while end < field.count, isTokenCharacter(field[end]) { end += 1 }
        guard end > 0, end == field.count || field[end] == UInt8(ascii: " ") else {
            return .malformed("no authentication scheme")
        }
        guard isBasic(field.extracting(0..<end)) else { return .nothing }
        while end < field.count, field[end] == UInt8(ascii: " ") { end += 1 }
        guard end < field.count else { return .malformed("no credentials after the scheme") }
        let token = field.extracting(end..<field.count)
        var isBase64 = true
        let decoded = Secret(capacity: Base64.capacity(token.count)) { bytes in
            isBase64 = Base64.decode(token, into: &bytes)
        }
        guard isBase64 else { return .malformed("the credentials are not base64") }
        return BasicCredentials(decoded).map { .credentials($0) } ?? .unusable
    }

    private static func isBasic(_ scheme: Span<UInt8>) -> Bool {
        guard scheme.count == 5 else { return false }
        // In upper and lower case alike: a set bit 5 makes every letter a small one.
        return scheme[0] | 0x20 == UInt8(ascii: "b") && scheme[1] | 0x20 == UInt8(ascii: "a")
            && scheme[2] | 0x20 == UInt8(ascii: "s") && scheme[3] | 0x20 == UInt8(ascii: "i")
            && scheme[4] | 0x20 == UInt8(ascii: "c")
    }

    /// `tchar` of RFC 9110 section 5.6.2.
    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
