// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPServer
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
        "Basic realm=\(quoted(realm)), charset=\"UTF-8\""
    }

    /// A text as a quoted-string of RFC 9110 section 5.6.4, its quotes included.
    static func quoted(_ text: String) -> String {
        var quoted = ""
        for character in text.unicodeScalars {
            if character == "\"" || character == "\\" { quoted.unicodeScalars.append("\\") }
            quoted.unicodeScalars.append(character)
        }
        return "\"\(quoted)\""
    }

    /// Reads the `Authorization` fields of a request.
    ///
    /// - Parameter fields: The value of each such field, in order.
    /// - Returns: What they come to; never more than one pair of credentials.
    public static func read(_ fields: [String]) -> Presented {
        guard let field = fields.first else { return .nothing }
        return read(field.utf8Span.span, count: fields.count)
    }

    /// Reads the `Authorization` field of a request.
    ///
    /// - Parameters:
    ///   - field: The value of the first, without blanks around it.
    ///   - count: How many there are; more than one is malformed, whatever they hold.
    /// - Returns: What it comes to.
    static func read(_ field: Span<UInt8>, count: Int) -> Presented {
        guard count == 1 else { return .malformed("more than one Authorization field") }
        var end = 0
        while end < field.count, Octet.isToken(field[end]) { end += 1 }
        guard end > 0, end == field.count || field[end] == UInt8(ascii: " ") else {
            return .malformed("no authentication scheme")
        }
        guard field.extracting(0..<end).equalsIgnoringCase("basic") else { return .nothing }
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
}
