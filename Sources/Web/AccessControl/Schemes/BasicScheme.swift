// SPDX-License-Identifier: Apache-2.0

public import Bytes
internal import RealmKit

/// HTTP Basic authentication.
///
/// Source: RFC 7617, RFC 9110 section 11.
public enum BasicScheme {
    /// The result of reading the `Authorization` fields of a request.
    public enum Presented: Sendable {
        /// There are no credentials, or only credentials of another scheme.
        case nothing
        /// A name and a password.
        case credentials(BasicCredentials)
        /// The credentials are well-formed, but no user can have them.
        ///
        /// The response is the same as for a wrong password.
        case unusable
        /// The fields are malformed, with the reason.
        ///
        /// The response is 400.
        case malformed(String)
    }

    /// The maximum length of name and password together, in bytes.
    public static let maximumBytes = 5120

    /// Returns the value of a `WWW-Authenticate` field.
    ///
    /// - Parameter realm: The name of the realm. It must not contain control characters.
    /// - Returns: The value, with the name as a quoted-string of RFC 9110 section 5.6.4.
    public static func challenge(realm: String) -> String {
        "Basic realm=\(quoted(realm)), charset=\"UTF-8\""
    }

    /// Returns a text as a quoted-string of RFC 9110 section 5.6.4, with its quotes.
    package static func quoted(_ text: String) -> String {
        var quoted = ""
        for character in text.unicodeScalars {
            if character == "\"" || character == "\\" { quoted.unicodeScalars.append("\\") }
            quoted.unicodeScalars.append(character)
        }
        return "\"\(quoted)\""
    }

    /// Reads the `Authorization` fields of a request.
    ///
    /// - Parameter fields: The values of all `Authorization` fields, in order.
    /// - Returns: The result.
    public static func read(_ fields: [UTF8Text]) -> Presented {
        guard let field = fields.first else { return .nothing }
        return read(field.string.utf8Span.span, count: fields.count)
    }

    /// Reads the `Authorization` field of a request.
    ///
    /// - Parameters:
    ///   - field: The value of the first field, without surrounding white space.
    ///   - count: The number of fields. More than one field is malformed, even if the values are equal.
    /// - Returns: The result.
    package static func read(_ field: Span<UInt8>, count: Int) -> Presented {
        guard count == 1 else { return .malformed("more than one Authorization field") }
        var end = 0
        while end < field.count, ASCII.isToken(field[end]) { end += 1 }
        guard end > 0, end == field.count || field[end] == UInt8(ascii: " ") else {
            return .malformed("no authentication scheme")
        }
        guard field.extracting(0..<end).equalsIgnoringCase("basic") else { return .nothing }
        while end < field.count, field[end] == UInt8(ascii: " ") { end += 1 }
        guard end < field.count else { return .malformed("no credentials after the scheme") }
        let token = field.extracting(end..<field.count)
        var isBase64 = true
        let decoded = Secret(capacity: Base64.maximumByteCount(ofLength: token.count)) { bytes in
            isBase64 = Base64.padded.decode(token, into: &bytes)
        }
        guard isBase64 else { return .malformed("the credentials are not base64") }
        return BasicCredentials(decoded).map { .credentials($0) } ?? .unusable
    }
}
