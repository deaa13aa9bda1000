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

    /// The password in a text after `OBF:`; nil if it is malformed.
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

/// The users of a `mgmt-users.properties` or `application-users.properties` of WildFly, with their groups or roles of the
/// file beside it.
///
/// A line is `user=HEX(MD5(user:realm:password))`, and a comment has the name of the realm. Tomcat's digest of a salt and a
/// password is the same with the salt `user:realm:`, so the passwords are stored in its format.
///
/// Source: `PropertiesFileLoader` and `UserPropertiesFileLoader` of WildFly Core 1 to 27.
struct WildFlyUsers {
    /// The file `mgmt-groups.properties` or `application-roles.properties`.
    let roles: (bytes: [UInt8], name: String)?

    func read(_ bytes: [UInt8], name: String) throws(BadUserFile) -> ImportedUsers {
        guard let realm = Self.realm(bytes) else {
            throw BadUserFile(
                "\(name): no comment #$REALM_NAME=...$ names the realm; add one, such as #$REALM_NAME=ApplicationRealm$, or "
                    + "#$REALM_NAME=ManagementRealm$ for mgmt-users.properties"
            )
        }
        var result = ImportedUsers()
        var rolesByUser: [UTF8Text: (list: String, line: Int)] = [:]
        if let roles {
            for role in try JavaProperties(roles.bytes, name: roles.name).properties {
                rolesByUser[UTF8Text(role.key)] = (role.value, role.line)
            }
        }
        for property in try JavaProperties(bytes, name: name).properties {
            var names = NameList()
            names.insert(list: rolesByUser[UTF8Text(property.key)]?.list)
            var fields = UserFields(place: "\(name):\(property.line)", name: property.key)
            fields.groups = names.names
            fields.password = Self.password(property.value, user: property.key, realm: realm)
            fields.add(to: &result)
            rolesByUser[UTF8Text(property.key)]?.list = ""
        }
        for unknown in rolesByUser.values.filter({ !$0.list.isEmpty }).sorted(by: { $0.line < $1.line }) {
            result.omit("roles of users who are not in \(name)", at: "\(roles?.name ?? ""):\(unknown.line)")
        }
        return result.finished()
    }

    /// The name of the realm in a comment such as `#$REALM_NAME=ApplicationRealm$ This line is ...`.
    private static func realm(_ bytes: [UInt8]) -> String? {
        let marker = Array("$REALM_NAME=".utf8)
        for line in bytes.split(separator: 0x0A) where line.first == UInt8(ascii: "#") {
            let comment = line.dropFirst().drop { $0 == 0x20 }
            guard comment.starts(with: marker) else { continue }
            let name = comment.dropFirst(marker.count)
            guard let end = name.firstIndex(of: UInt8(ascii: "$")) else { continue }
            return String(validating: name[..<end], as: UTF8.self)
        }
        return nil
    }

    private static func password(_ stored: String, user: String, realm: String) -> ImportedUser.Password {
        if stored.isEmpty { return .none }
        guard let digest = Hexadecimal.decodeLowercase(stored.lowercased()), digest.count == 16 else {
            return .unusable("it is not a digest of 32 hexadecimal digits; a realm with plain-text needs new passwords")
        }
        let salt = Array("\(user):\(realm):".utf8)
        return .hash("{TOMCAT-MD5}\(Hexadecimal.encode(salt.span))$1$\(Hexadecimal.encode(digest.span))")
    }
}

/// The keys and values of a properties file of Java.
///
/// Source: `java.util.Properties.load`. As in the servers that write these files today, the text is UTF-8.
struct JavaProperties {
    struct Property {
        let key: String
        let value: String
        let line: Int
    }

    private(set) var properties: [Property] = []

    init(_ bytes: [UInt8], name: String) throws(BadUserFile) {
        var logical: [UInt8] = []
        var (first, isContinued) = (0, false)
        for (index, line) in bytes.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            var line = line
            if index == 0, line.starts(with: [0xEF, 0xBB, 0xBF]) { line = line.dropFirst(3) }
            if line.last == 0x0D { line.removeLast() }
            line = line.drop(while: Self.isBlank)
            if !isContinued {
                guard let byte = line.first, byte != UInt8(ascii: "#"), byte != UInt8(ascii: "!") else { continue }
                (logical, first) = ([], index + 1)
            }
            isContinued = line.reversed().prefix { $0 == UInt8(ascii: "\\") }.count % 2 == 1
            logical += isContinued ? line.dropLast() : line
            if !isContinued { try add(logical, line: first, name: name) }
        }
        // Java ignores a backslash at the end of the file.
        if isContinued { try add(logical, line: first, name: name) }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0C }

    private mutating func add(_ line: [UInt8], line number: Int, name: String) throws(BadUserFile) {
        var rest = line[...]
        let key = Self.text(&rest) { Self.isBlank($0) || $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ":") }
        rest = rest.drop(while: Self.isBlank)
        if let byte = rest.first, byte == UInt8(ascii: "=") || byte == UInt8(ascii: ":") {
            rest = rest.dropFirst().drop(while: Self.isBlank)
        }
        guard let key, let value = Self.text(&rest, until: { _ in false }) else {
            throw BadUserFile("\(name):\(number): it is not UTF-8, or has a malformed \\u")
        }
        properties.append(Property(key: key, value: value, line: number))
    }

    /// Reads a text with escapes; nil if it is malformed.
    private static func text(_ rest: inout ArraySlice<UInt8>, until isEnd: (UInt8) -> Bool) -> String? {
        var units: [UInt16] = []
        var plain: [UInt8] = []
        /// Appends the bytes before an escape.
        func flush() -> Bool {
            guard let text = String(validating: plain, as: UTF8.self) else { return false }
            units += text.utf16
            plain = []
            return true
        }
        while let byte = rest.first, !isEnd(byte) {
            rest.removeFirst()
            guard byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() else {
                plain.append(byte)
                continue
            }
            switch escaped {
            case UInt8(ascii: "t"): plain.append(0x09)
            case UInt8(ascii: "n"): plain.append(0x0A)
            case UInt8(ascii: "r"): plain.append(0x0D)
            case UInt8(ascii: "f"): plain.append(0x0C)
            case UInt8(ascii: "u"):
                let digits = rest.prefix(4).compactMap(Hexadecimal.value)
                guard digits.count == 4, flush() else { return nil }
                rest = rest.dropFirst(4)
                units.append(digits.reduce(0) { $0 << 4 | UInt16($1) })
            case _: plain.append(escaped)
            }
        }
        return flush() ? String(validating: units, as: UTF16.self) : nil
    }
}
