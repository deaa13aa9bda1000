// SPDX-License-Identifier: Apache-2.0

public import Bytes
public import RealmKit

/// HTTP Basic authentication.
///
/// Source: RFC 7617, RFC 9110 section 11.
public enum BasicScheme {
    /// The result of reading the `Authorization` fields of a request.
    public enum Presented: Sendable {
        /// There are no credentials, or only credentials of another scheme.
        case nothing
        /// A name and a password.
        case credentials(Credentials)
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

    /// Returns the value of a `WWW-Authenticate` field, for the name of a realm without control characters.
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

    /// Reads the values of all `Authorization` fields of a request.
    public static func read(_ fields: [UTF8Text]) -> Presented {
        guard let field = fields.first else { return .nothing }
        return read(field.string.utf8Span.span, count: fields.count)
    }

    /// Reads the first `Authorization` field, without surrounding white space.
    ///
    /// More than one field is malformed, even if the values are equal.
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
        return Credentials(decoded).map { .credentials($0) } ?? .unusable
    }
}

extension BasicScheme {
    /// A user name and a password of HTTP Basic, in one block of memory that is wiped after use.
    ///
    /// Most requests only look the credentials up in the credential cache. The name and the password are separated only for
    /// a login.
    public struct Credentials: Sendable {
        private let secret: Secret
        private let colon: Int

        /// The credentials of the decoded bytes `name:password`; nil if no user can have such a name or password.
        init?(_ decoded: Secret) {
            secret = decoded
            colon = decoded.withBytes { bytes in
                var colon = -1
                guard bytes.count <= BasicScheme.maximumBytes else { return -1 }
                for index in bytes.indices {
                    let byte = bytes[index]
                    guard byte >= 0x20, byte != 0x7F else { return -1 }
                    if byte == UInt8(ascii: ":"), colon < 0 { colon = index }
                }
                return colon
            }
            guard colon > 0 else { return nil }
        }

        func withBytes<Result>(_ body: (_ name: Span<UInt8>, _ password: Span<UInt8>) -> Result) -> Result {
            secret.withBytes { bytes in
                body(bytes.extracting(0..<colon), bytes.extracting((colon + 1)..<bytes.count))
            }
        }

        /// Returns the user name and the password as separate values; nil if the name is not valid, or if the bytes are not
        /// UTF-8 (RFC 7617 section 2.1).
        public func separated() -> (username: Username, password: Secret)? {
            withBytes { name, password in
                let parts = unsafe name.withUnsafeBufferPointer { name in
                    unsafe password.withUnsafeBufferPointer { password -> (String, Secret)? in
                        guard let text = unsafe String(validating: name, as: UTF8.self),
                            unsafe String(validating: password, as: UTF8.self) != nil
                        else { return nil }
                        return (text, unsafe Secret(password))
                    }
                }
                guard let (text, password) = parts else { return nil }
                return (try? Username(text)).map { (username: $0, password: password) }
            }
        }
    }
}
