// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import GRDB
package import RealmKit

/// A user in the store.
package struct StoredUser: Sendable, Hashable {
    package let record: UserRecord
    /// The hash of the password; nil for a user without a password.
    package let hash: String?
}

/// The data for one login.
package struct StoredLogin: Sendable {
    /// The user, without groups; nil if no user has that name.
    package let user: StoredUser?
    /// Joined in one text, split only after a successful check, because the time for it reveals the number of groups.
    let joinedGroups: String
    /// Names and values, joined for the same reason.
    let joinedAttributes: String
    /// For each cost in the realm, its text and the hash of any user of the realm.
    package let costs: [(cost: String, hash: String)]

    /// The separator of groups and of values, which never contain it.
    static let separator: Character = "\u{1F}"
    static let nameSeparator: Character = "\u{1E}"

    package var groups: [String] { joinedGroups.split(separator: Self.separator).map(String.init) }

    package var attributes: [UserAttribute] {
        var values: [(attribute: String, value: String)] = []
        for entry in joinedAttributes.split(separator: Self.separator) {
            let parts = entry.split(separator: Self.nameSeparator, maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { values.append((String(parts[0]), String(parts[1]))) }
        }
        return GatehouseStore.attributes(values)
    }
}

/// The groups and attributes of users: one row for each group and for each value of an attribute.
extension GatehouseStore {
    static func attributes(of name: String, realm: String, database: Database) throws -> [UserAttribute] {
        let sql = "SELECT attribute, value FROM user_attributes WHERE realm = ? AND name = ? ORDER BY place"
        return attributes(try database.rows(sql, [realm, name]).map { ($0[0], $0[1]) })
    }

    static func addGroups(_ groups: [String], of name: String, realm: String, database: Database) throws {
        for (place, group) in groups.enumerated() {
            try database.run(
                #"INSERT INTO user_groups (realm, name, place, "group") VALUES (?, ?, ?, ?)"#,
                [realm, name, place, group]
            )
        }
    }

    static func addAttributes(
        _ attributes: [UserAttribute],
        of name: String,
        realm: String,
        database: Database
    ) throws {
        for (place, (attribute, value)) in attributes.flattened.enumerated() {
            try database.run(
                "INSERT INTO user_attributes (realm, name, place, attribute, value) VALUES (?, ?, ?, ?, ?)",
                [realm, name, place, attribute, value]
            )
        }
    }

    /// Returns the attributes of rows in the order of their places; invalid ones of other programs are left out.
    static func attributes(_ values: [(attribute: String, value: String)]) -> [UserAttribute] {
        var names: [String] = []
        var valuesByName: [UTF8Text: [String]] = [:]
        for (name, value) in values {
            if valuesByName[UTF8Text(name)] == nil { names.append(name) }
            valuesByName[UTF8Text(name), default: []].append(value)
        }
        return names.compactMap { try? UserAttribute(name: $0, values: valuesByName[UTF8Text($0)] ?? []) }
    }
}

extension [UserAttribute] {
    /// The name of each value, and the value.
    var flattened: [(attribute: String, value: String)] {
        flatMap { attribute in attribute.values.map { (attribute.name, $0) } }
    }

    mutating func apply(_ changes: [AttributeChange]) {
        for change in changes {
            switch change {
            case .remove(let name): removeAll { $0.name.hasBytes(of: name) }
            case .set(let attribute):
                guard let index = firstIndex(where: { $0.name.hasBytes(of: attribute.name) }) else {
                    append(attribute)
                    continue
                }
                self[index] = attribute
            }
        }
    }
}
