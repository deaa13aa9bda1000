// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import GRDB
package import RealmKit

extension GatehouseStore {
    /// Reads the data for a login in one transaction, with the same work for existing and for unknown users.
    ///
    /// - Throws: ``StoreFault`` with code `unavailable`.
    package func login(_ user: Username, in realm: String) async throws(StoreFault) -> StoredLogin {
        try await read { database in
            let arguments: StatementArguments = ["realm": realm]
            let costs = try database.rows(Self.costsStatement, arguments)
                // Another program may have written a cost without a hash. Such a row must not prevent logins.
                .compactMap { row in (row[1] as String?).map { (cost: row[0] as String, hash: $0) } }
            let row = try database.rows(Self.loginStatement, arguments + ["name": user.text]).first
            let read = try row.map {
                (isThere: $0["is_there"] as Bool, user: try Self.user($0, groups: [], attributes: []))
            }
            return StoredLogin(
                user: read.flatMap { $0.isThere ? $0.user : nil },
                joinedGroups: row?["joined_groups"] ?? "",
                joinedAttributes: row?["joined_attributes"] ?? "",
                costs: costs
            )
        }
    }

    /// Reads a user; nil if no user has that name.
    package func user(_ user: Username, in realm: String) async throws(StoreFault) -> StoredUser? {
        try await read { try Self.user(user, in: realm, database: $0) }
    }

    /// Reads all users of a realm, sorted by name.
    package func users(of realm: String) async throws(StoreFault) -> [StoredUser] {
        try await read { database in
            let groups = try database.grouped(
                #"SELECT name, "group" FROM user_groups WHERE realm = ? ORDER BY name, place"#,
                [realm]
            ) { $0[1] as String }
            let attributes = try database.grouped(
                "SELECT name, attribute, value FROM user_attributes WHERE realm = ? ORDER BY name, place",
                [realm]
            ) { ($0[1] as String, $0[2] as String) }.mapValues(Self.attributes)
            return try database.rows(
                "SELECT \(Self.columns) FROM users WHERE realm = ? ORDER BY name",
                [realm]
            ).compactMap { row in
                // A malformed name is skipped, because no user can sign in with it.
                let name = UTF8Text(row["name"])
                do {
                    return try Self.user(row, groups: groups[name] ?? [], attributes: attributes[name] ?? [])
                } catch is BadUsername {
                    return nil
                }
            }
        }
    }

    /// Reads the names of the groups that users of a realm have.
    package func groups(of realm: String) async throws(StoreFault) -> [String] {
        try await read { database in
            try database.rows(#"SELECT DISTINCT "group" FROM user_groups WHERE realm = ?"#, [realm]).map { $0[0] }
        }
    }

    // MARK: Statements

    private static let columns = "name, hash, enabled, expiry, must_change, cost"

    /// Selects one hash for each cost, along the index, in a time that depends on the number of costs and not of users.
    private static let costsStatement = """
        WITH RECURSIVE costs (cost) AS (
            SELECT min(cost) FROM users WHERE realm = :realm
            UNION ALL
            SELECT (SELECT min(cost) FROM users WHERE realm = :realm AND cost > costs.cost)
            FROM costs WHERE costs.cost IS NOT NULL
        )
        SELECT cost, (SELECT hash FROM users WHERE realm = :realm AND cost = costs.cost AND hash IS NOT NULL LIMIT 1)
        FROM costs WHERE cost IS NOT NULL
        """

    /// Selects exactly one row for any name, so that the query takes the same time for unknown names.
    private static let loginStatement = """
        SELECT
            coalesce(users.name, :name) AS name, users.hash AS hash, coalesce(users.enabled, 1) AS enabled,
            users.expiry AS expiry, coalesce(users.must_change, 0) AS must_change, users.cost AS cost,
            users.name IS NOT NULL AS is_there,
            (
                SELECT group_concat("group", char(31)) FROM (
                    SELECT "group" FROM user_groups WHERE realm = :realm AND name = :name ORDER BY place
                )
            ) AS joined_groups,
            (
                SELECT group_concat(attribute || char(30) || value, char(31)) FROM (
                    SELECT attribute, value FROM user_attributes WHERE realm = :realm AND name = :name ORDER BY place
                )
            ) AS joined_attributes
        FROM (SELECT 1) LEFT JOIN users ON users.realm = :realm AND users.name = :name
        """

    static func user(_ user: Username, in realm: String, database: Database) throws -> StoredUser? {
        let arguments: StatementArguments = [realm, user.text]
        let row = try database.rows("SELECT \(columns) FROM users WHERE realm = ? AND name = ?", arguments).first
        let groups = try database.rows(
            #"SELECT "group" FROM user_groups WHERE realm = ? AND name = ? ORDER BY place"#,
            arguments
        ).map { $0[0] as String }
        let attributes = try attributes(of: user.text, realm: realm, database: database)
        return try row.map { try Self.user($0, groups: groups, attributes: attributes) }
    }

    private static func user(_ row: Row, groups: [String], attributes: [UserAttribute]) throws -> StoredUser {
        let record = UserRecord(
            try Username(row["name"]),
            groups: groups,
            isEnabled: row["enabled"],
            expiry: row["expiry"],
            mustChangePassword: row["must_change"],
            format: row["cost"],
            attributes: attributes
        )
        return StoredUser(record: record, hash: row["hash"])
    }
}

/// Names whose case is ignored: the column `folded` has the case-folded name; NULL if that is the name itself.
extension GatehouseStore {
    /// Returns the stored name of a user whose name is given in any case; nil if there is no such user.
    ///
    /// - Throws: ``StoreFault`` with code `unavailable`, also if two users differ in case only: none is preferred.
    package func spelling(of user: Username, in realm: String) async throws(StoreFault) -> Username? {
        let names = try await read { try Self.spellings(of: user, in: realm, database: $0) }
        guard names.count < 2 else {
            let list = names.map(\.text).joined(separator: " and ")
            throw StoreFault(.unavailable, "there are users whose names differ in case only: \(list)")
        }
        return names.first
    }

    /// Returns the stored names that have the same case-folded name, at most two.
    static func spellings(of user: Username, in realm: String, database: Database) throws -> [Username] {
        let sql = """
            SELECT name FROM users WHERE realm = :realm AND name = :folded AND folded IS NULL
            UNION ALL SELECT name FROM users WHERE realm = :realm AND folded = :folded LIMIT 2
            """
        return try database.rows(sql, ["realm": realm, "folded": user.caseFolded]).map { try Username($0[0]) }
    }

    /// Returns at most five pairs of names of users that differ in case only; it blocks the thread.
    package func namesDifferingInCase(in realm: String) throws(StoreFault) -> [[String]] {
        try readBlocking { database in
            let sql = """
                SELECT one.name, other.name FROM users AS one JOIN users AS other
                ON other.realm = one.realm AND other.folded = one.folded AND other.name > one.name
                WHERE one.realm = :realm AND one.folded IS NOT NULL
                UNION ALL
                SELECT one.name, other.name FROM users AS one JOIN users AS other
                ON other.realm = one.realm AND other.name = one.folded AND other.folded IS NULL
                WHERE one.realm = :realm AND one.folded IS NOT NULL LIMIT 5
                """
            return try database.rows(sql, ["realm": realm]).map { [$0[0], $0[1]] }
        }
    }

    static func folded(_ name: Username) -> String? {
        let folded = name.caseFolded
        return folded.hasBytes(of: name.text) ? nil : folded
    }
}
