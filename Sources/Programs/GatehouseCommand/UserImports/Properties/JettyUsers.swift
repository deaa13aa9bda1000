// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import RealmKit

/// The users of a `realm.properties`, the file of Jetty's `HashLoginService`: `user: credential[,role ...]`.
///
/// A credential is `MD5:` with hexadecimal digits, `CRYPT:` with a hash of crypt(3), `OBF:` with a password that can be
/// computed from it, or the password in clear text.
///
/// Source: `PropertyUserStore`, `Credential` and `Password` of Jetty 9 to 12.
enum JettyUsers {
    static func read(_ bytes: [UInt8], name: String) throws(BadUserFile) -> ImportedUsers {
        var result = ImportedUsers()
        for property in try JavaProperties(bytes, name: name).properties {
            let credential = property.value[...].utf8.prefix { $0 != UInt8(ascii: ",") }
            var roles = NameList()
            roles.insert(list: String(property.value[credential.endIndex...].utf8.dropFirst()))
            var fields = UserFields(place: "\(name):\(property.line)", name: property.key)
            fields.groups = roles.names
            fields.password = password(credential)
            fields.add(to: &result)
        }
        return result.finished()
    }

    private static func password(_ credential: Substring.UTF8View) -> ImportedUser.Password {
        var text = credential
        while text.last == 0x20 { text = text.dropLast() }
        func rest(after prefix: StaticString) -> Substring.UTF8View? {
            text.starts(with: prefix.description.utf8) ? text.dropFirst(prefix.utf8CodeUnitCount) : nil
        }
        if text.isEmpty { return .none }
        if let digits = rest(after: "MD5:") {
            guard let digest = Hexadecimal.decodeLowercase(Substring(digits).lowercased()), digest.count == 16 else {
                return .unusable("there are not 32 hexadecimal digits after MD5:")
            }
            return .hash("{MD5}" + Base64.padded.encode(digest.span))
        }
        if let hash = rest(after: "CRYPT:") { return .hash("{CRYPT}\(Substring(hash))") }
        if let obfuscated = rest(after: "OBF:") {
            guard let password = clearText(obfuscated) else { return .unusable("the text after OBF: is malformed") }
            return .clearText(Secret(password))
        }
        guard !TomcatPassword.looksLikeHash(String(Substring(text))) else {
            return .unusable(
                "the password looks like a hash, but has no MD5: or CRYPT: before it; a file of WildFly needs "
                    + "--format wildfly"
            )
        }
        return .clearText(Secret(Array(text)))
    }

    /// Returns the password in a text after `OBF:`; nil if it is malformed.
    ///
    /// Four digits to the base 36 stand for a byte: each number is computed from the byte and its opposite in the password,
    /// or after a `U`, as in passwords with other characters than those of ASCII, has the byte in its high half.
    private static func clearText(_ obfuscated: Substring.UTF8View) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = obfuscated
        while let first = rest.first {
            let isHigh = first == UInt8(ascii: "U")
            if isHigh { rest = rest.dropFirst() }
            guard rest.count >= 4, let number = Int(String(Substring(rest.prefix(4))), radix: 36), number >= 0 else {
                return nil
            }
            rest = rest.dropFirst(4)
            let value = isHigh ? number >> 8 : (number / 256 + number % 256 - 254) / 2
            guard let byte = UInt8(exactly: value) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }
}
