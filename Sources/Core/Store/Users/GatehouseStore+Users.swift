// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import GRDB
public import RealmKit

extension GatehouseStore {
    /// The number of changes that are kept.
    ///
    /// A reader that has missed a removed change must treat all users as changed.
    static let rememberedChanges = 10_000

    /// Reads the data for a login in one transaction.
    ///
    /// The work is the same for existing and for unknown users.
    ///
    /// - Parameters:
    ///   - user: The name.
    ///   - realm: The realm.
    /// - Returns: The user, if the user exists, and one hash for each cost in the realm.
    /// - Throws: ``StoreFault`` with code `unavailable`.
    public func login(_ user: Username, in realm: String) async throws(StoreFault) -> StoredLogin {
        try await read { database in
            let arguments: StatementArguments = ["realm": realm]
            let costs = try Row.fetchAll(try database.cachedStatement(sql: Self.costsStatement), arguments: arguments)
                // Another program may have written a cost without a hash. Such a row must not prevent logins.
                .compactMap { row in (row[1] as String?).map { (cost: row[0] as String, hash: $0) } }
            let row = try Row.fetchOne(
                try database.cachedStatement(sql: Self.loginStatement),
                arguments: arguments + ["name": user.text]
            )
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

    /// Reads a user.
    ///
    /// - Parameters:
    ///   - user: The name.
    ///   - realm: The realm.
    /// - Returns: The user; nil if no user has that name.
    /// - Throws: ``StoreFault`` with code `unavailable`.
    public func user(_ user: Username, in realm: String) async throws(StoreFault) -> StoredUser? {
        try await read { try Self.user(user, in: realm, database: $0) }
    }

    /// Reads all users of a realm, sorted by name.
    ///
    /// - Parameter realm: The realm.
    /// - Returns: The users.
    /// - Throws: ``StoreFault`` with code `unavailable`.
    public func users(of realm: String) async throws(StoreFault) -> [StoredUser] {
        try await read { database in
            // By bytes: two names that differ only in their form of Unicode are two users.
            var groups: [UTF8Text: [String]] = [:]
            let members = try Row.fetchCursor(
                database,
                sql: #"SELECT name, "group" FROM user_groups WHERE realm = ? ORDER BY name, place"#,
                arguments: [realm]
            )
            while let row = try members.next() { groups[UTF8Text(row[0]), default: []].append(row[1]) }
            let attributes = try Self.attributes(realm: realm, database: database)
            return try Row.fetchAll(
                database,
                sql: "SELECT \(Self.columns) FROM users WHERE realm = ? ORDER BY name",
                arguments: [realm]
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
    ///
    /// - Parameter realm: The realm.
    /// - Returns: The names.
    /// - Throws: ``StoreFault`` with code `unavailable`.
    public func groups(of realm: String) async throws(StoreFault) -> [String] {
        try await read {
            try String.fetchAll(
                $0,
                sql: #"SELECT DISTINCT "group" FROM user_groups WHERE realm = ?"#,
                arguments: [realm]
            )
        }
    }

    /// Changes a user.
    ///
    /// - Parameters:
    ///   - user: The name.
    ///   - realm: The realm.
    ///   - changes: The changes.
    ///   - cost: The cost of a check of the new hash.
    /// - Throws: ``StoreFault``: `missing`, `unavailable`.
    public func change(
        _ user: Username,
        in realm: String,
        changes: UserChanges,
        cost: String?
    ) async throws(StoreFault) {
        try await write { database in
            guard let stored = try Self.user(user, in: realm, database: database) else {
                throw StoreFault(.missing, "there is no user \(user)")
            }
            var arguments: StatementArguments = ["realm": realm, "name": user.text]
            var assignments: [String] = []
            if let hash = changes.hash {
                if let replaced = changes.replacing, stored.hash != replaced { return }
                assignments += ["hash = :hash", "cost = :cost"]
                arguments += ["hash": hash, "cost": cost]
            }
            if let isEnabled = changes.isEnabled {
                assignments.append("enabled = :enabled")
                arguments += ["enabled": isEnabled]
            }
            if let expiry = changes.expiry {
                assignments.append("expiry = :expiry")
                arguments += ["expiry": expiry]
            }
            if let mustChange = changes.mustChangePassword {
                assignments.append("must_change = :must_change")
                arguments += ["must_change": mustChange]
            }
            if !assignments.isEmpty {
                try database.execute(
                    sql:
                        "UPDATE users SET \(assignments.joined(separator: ", ")) WHERE realm = :realm AND name = :name",
                    arguments: arguments
                )
            }
            if let groups = changes.groups {
                try Self.setGroups(groups, of: user.text, realm: realm, database: database)
            }
            if !changes.attributes.isEmpty {
                var attributes = stored.record.attributes
                attributes.apply(changes.attributes)
                try Self.setAttributes(attributes, of: user.text, realm: realm, database: database)
            }
            // A new hash of the same password is not reported as a change.
            if changes.replacing == nil { try Self.recordChange(user.text, realm: realm, database: database) }
        }
    }

    /// Removes a user.
    ///
    /// - Parameters:
    ///   - user: The name.
    ///   - realm: The realm.
    /// - Throws: ``StoreFault``: `missing`, `unavailable`.
    public func remove(_ user: Username, from realm: String) async throws(StoreFault) {
        try await write { database in
            try database.execute(sql: "DELETE FROM users WHERE realm = ? AND name = ?", arguments: [realm, user.text])
            guard database.changesCount > 0 else { throw StoreFault(.missing, "there is no user \(user)") }
            try Self.recordChange(user.text, realm: realm, database: database)
        }
    }

    /// Reads the users whose password, groups or state have changed since a given change.
    ///
    /// - Parameters:
    ///   - realm: The realm.
    ///   - number: The number of the last known change; nil to read only the number of the last change.
    /// - Returns: The number of the last change, and the users that have changed since.
    /// - Throws: ``StoreFault`` with code `unavailable`.
    public func changes(
        in realm: String,
        after number: Int64?
    ) async throws(StoreFault) -> (number: Int64, users: ChangedUsers) {
        try await read { database in
            let bounds = try Row.fetchOne(
                try database.cachedStatement(sql: "SELECT min(number), max(number) FROM user_changes")
            )
            let first = bounds?[0] as Int64? ?? 0
            let last = bounds?[1] as Int64? ?? 0
            guard let number else { return (last, .none) }
            // Numbers are never reused. If the last number is lower than the known number, the file was replaced.
            guard number <= last, number + 1 >= first else { return (last, .all) }
            guard number < last else { return (last, .none) }
            let names = try String.fetchAll(
                database,
                sql: "SELECT DISTINCT name FROM user_changes WHERE number > ? AND realm = ?",
                arguments: [number, realm]
            )
            return (last, .some(Set(try names.map { try Username($0) })))
        }
    }

    // MARK: Statements

    private static let columns = "name, hash, enabled, expiry, must_change, cost"

    /// Selects one hash for each cost.
    ///
    /// The query goes from cost to cost along the index. Its time therefore depends on the number of costs, and not on
    /// the number of users.
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

    private static func user(_ user: Username, in realm: String, database: Database) throws -> StoredUser? {
        let row = try Row.fetchOne(
            try database.cachedStatement(sql: "SELECT \(columns) FROM users WHERE realm = ? AND name = ?"),
            arguments: [realm, user.text]
        )
        let groups = try String.fetchAll(
            try database.cachedStatement(
                sql: #"SELECT "group" FROM user_groups WHERE realm = ? AND name = ? ORDER BY place"#
            ),
            arguments: [realm, user.text]
        )
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

    private static func setGroups(_ groups: [String], of name: String, realm: String, database: Database) throws {
        try database.execute(sql: "DELETE FROM user_groups WHERE realm = ? AND name = ?", arguments: [realm, name])
        try addGroups(groups, of: name, realm: realm, database: database)
    }

    static func addGroups(_ groups: [String], of name: String, realm: String, database: Database) throws {
        for (place, group) in groups.enumerated() {
            try database.cachedStatement(
                sql: #"INSERT INTO user_groups (realm, name, place, "group") VALUES (?, ?, ?, ?)"#
            ).execute(arguments: [realm, name, place, group])
        }
    }

    private static func recordChange(_ name: String, realm: String, database: Database) throws {
        try addChange(name, realm: realm, database: database)
        try forgetOldChanges(database)
    }

    static func addChange(_ name: String, realm: String, database: Database) throws {
        try database.cachedStatement(sql: "INSERT INTO user_changes (realm, name) VALUES (?, ?)")
            .execute(arguments: [realm, name])
    }

    /// Removes all changes but the last ones; it is called after a change was added.
    static func forgetOldChanges(_ database: Database) throws {
        try database.execute(
            sql: "DELETE FROM user_changes WHERE number <= ?",
            arguments: [database.lastInsertedRowID - Int64(rememberedChanges)]
        )
    }
}
