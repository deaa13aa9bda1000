// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmKit

/// HTTP Basic authentication.
///
/// Source: RFC 7617, RFC 9110 section 11.
public enum BasicScheme {
    /// What the `Authorization` fields of a request come to.
    public enum Presented: Sendable {
        /// No credentials, or those of another scheme.
        case nothing
        /// A name and a password.
        case credentials(Username, Secret)
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
        let bytes = Array(field.utf8)
        let scheme = bytes.prefix { isTokenCharacter($0) }
        let rest = bytes.dropFirst(scheme.count)
        guard !scheme.isEmpty else { return .malformed("no authentication scheme") }
        guard rest.isEmpty || rest.first == UInt8(ascii: " ") else {
            return .malformed("no authentication scheme")
        }
        guard scheme.map({ $0 | 0x20 }) == Array("basic".utf8) else { return .nothing }
        let token = rest.drop { $0 == UInt8(ascii: " ") }
        guard !token.isEmpty else { return .malformed("no credentials after the scheme") }
        guard let decoded = Base64.decode(token) else { return .malformed("the credentials are not base64") }
        return credentials(decoded)
    }

    private static func credentials(_ decoded: consuming [UInt8]) -> Presented {
        defer { wipe(&decoded) }
        guard decoded.count <= maximumBytes, let colon = decoded.firstIndex(of: UInt8(ascii: ":")),
            !decoded.contains(where: { $0 < 0x20 || $0 == 0x7F }),
            let name = String(validating: decoded[..<colon], as: UTF8.self),
            String(validating: decoded[(colon + 1)...], as: UTF8.self) != nil
        else { return .unusable }
        do throws(BadUsername) {
            return .credentials(try Username(name), Secret(decoded[(colon + 1)...]))
        } catch {
            return .unusable
        }
    }

    private static func wipe(_ bytes: inout [UInt8]) {
        for index in bytes.indices { bytes[index] = 0 }
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
