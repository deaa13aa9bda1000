// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import GRDB
internal import RealmKit

/// The attributes of users: one row for each value.
extension GatehouseStore {
    /// Returns the attributes of a user.
    static func attributes(of name: String, realm: String, database: Database) throws -> [UserAttribute] {
        let rows = try Row.fetchAll(
            try database.cachedStatement(
                sql: "SELECT attribute, value FROM user_attributes WHERE realm = ? AND name = ? ORDER BY place"
            ),
            arguments: [realm, name]
        )
        return Self.attributes(rows.map { ($0[0], $0[1]) })
    }

    /// Returns the attributes of all users of a realm, by the name of the user.
    static func attributes(realm: String, database: Database) throws -> [UTF8Text: [UserAttribute]] {
        var values: [UTF8Text: [(attribute: String, value: String)]] = [:]
        let rows = try Row.fetchCursor(
            database,
            sql: "SELECT name, attribute, value FROM user_attributes WHERE realm = ? ORDER BY name, place",
            arguments: [realm]
        )
        while let row = try rows.next() { values[UTF8Text(row[0]), default: []].append((row[1], row[2])) }
        return values.mapValues(Self.attributes)
    }

    /// Replaces the attributes of a user.
    static func setAttributes(
        _ attributes: [UserAttribute],
        of name: String,
        realm: String,
        database: Database
    ) throws {
        try database.execute(sql: "DELETE FROM user_attributes WHERE realm = ? AND name = ?", arguments: [realm, name])
        try addAttributes(attributes, of: name, realm: realm, database: database)
    }

    /// Adds the attributes of a user who has none.
    static func addAttributes(
        _ attributes: [UserAttribute],
        of name: String,
        realm: String,
        database: Database
    ) throws {
        let values = attributes.flatMap { attribute in attribute.values.map { (attribute.name, $0) } }
        for (place, (attribute, value)) in values.enumerated() {
            try database.cachedStatement(
                sql: "INSERT INTO user_attributes (realm, name, place, attribute, value) VALUES (?, ?, ?, ?, ?)"
            ).execute(arguments: [realm, name, place, attribute, value])
        }
    }

    /// Returns the attributes of rows in the order of their places.
    ///
    /// Rows of another program that are not a valid attribute are left out.
    static func attributes(_ values: [(attribute: String, value: String)]) -> [UserAttribute] {
        var names: [String] = []
        var valuesByName: [UTF8Text: [String]] = [:]
        for (name, value) in values {
            if valuesByName[UTF8Text(name)] == nil { names.append(name) }
            valuesByName[UTF8Text(name), default: []].append(value)
        }
        return names.compactMap { name in
            do throws(BadAttribute) {
                return try UserAttribute(name: name, values: valuesByName[UTF8Text(name)] ?? [])
            } catch {
                return nil
            }
        }
    }
}

extension [UserAttribute] {
    /// Applies changes of attributes.
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
