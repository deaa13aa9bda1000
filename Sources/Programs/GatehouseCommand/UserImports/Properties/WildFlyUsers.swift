// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// The users of a `mgmt-users.properties` or `application-users.properties` of WildFly, with their groups or roles of the
/// file beside it.
///
/// A line is `user=HEX(MD5(user:realm:password))`, and a comment has the name of the realm. Tomcat's digest of a salt and a
/// password is the same with the salt `user:realm:`, so the passwords are stored in its format.
///
/// Source: `PropertiesFileLoader` and `UserPropertiesFileLoader` of WildFly Core 1 to 27.
enum WildFlyUsers {
    static func read(
        _ bytes: [UInt8],
        name: String,
        roles: UserImportFormat.RoleFile?
    ) throws(BadUserFile) -> ImportedUsers {
        guard let realm = realm(bytes) else {
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
            fields.password = password(property.value, user: property.key, realm: realm)
            fields.add(to: &result)
            rolesByUser[UTF8Text(property.key)]?.list = ""
        }
        for unknown in rolesByUser.values.filter({ !$0.list.isEmpty }).sorted(by: { $0.line < $1.line }) {
            result.omit("roles of users who are not in \(name)", at: "\(roles?.name ?? ""):\(unknown.line)")
        }
        return result.finished()
    }

    /// Returns the name of the realm in a comment such as `#$REALM_NAME=ApplicationRealm$ This line is ...`.
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
