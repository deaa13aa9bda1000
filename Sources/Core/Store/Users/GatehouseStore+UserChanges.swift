// SPDX-License-Identifier: Apache-2.0

internal import GRDB
public import RealmKit

extension GatehouseStore {
    /// The number of kept changes; a reader that has missed a removed one must treat all users as changed.
    static let rememberedChanges = 10_000

    /// Changes a user; `cost` is that of a check of the new hash.
    ///
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
            func assign(_ column: String, _ value: (any DatabaseValueConvertible)?) {
                assignments.append("\(column) = :\(column)")
                arguments += [column: value]
            }
            if let hash = changes.hash {
                if let replaced = changes.replacing, stored.hash != replaced { return }
                assign("hash", hash)
                assign("cost", cost)
            }
            if let isEnabled = changes.isEnabled { assign("enabled", isEnabled) }
            if let expiry = changes.expiry { assign("expiry", expiry) }
            if let mustChange = changes.mustChangePassword { assign("must_change", mustChange) }
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

    /// Removes all changes but the last ones, after one was added.
    static func forgetOldChanges(_ database: Database) throws {
        try database.execute(
            sql: "DELETE FROM user_changes WHERE number <= ?",
            arguments: [database.lastInsertedRowID - Int64(rememberedChanges)]
        )
    }

    /// Adds users.
    ///
    /// If one of the users cannot be added, no user is added.
    ///
    /// - Parameters:
    ///   - users: The users.
    ///   - realm: The realm.
    ///   - ignoresCase: True if a name that differs from a stored name in case only exists already.
    /// - Throws: ``StoreFault``: `exists` with the first name that already exists, `unavailable`, or `cancelled`.
    public func add(
        _ users: [UserRow],
        to realm: String,
        ignoringCase ignoresCase: Bool = false
    ) async throws(StoreFault) {
        try await add(to: realm, ignoringCase: ignoresCase) { add in try add(users) }
    }

    /// Adds users that are read while they are added.
    ///
    /// If one of the users cannot be added, or the closure throws an error, no user is added. Other programs cannot
    /// write to the store until all users are added.
    ///
    /// - Parameters:
    ///   - realm: The realm.
    ///   - ignoresCase: True if a name that differs from a stored name in case only exists already.
    ///   - progress: Called after every 1,000 users with the number of users that are added.
    ///   - read: Reads the users, and passes them in batches to its argument.
    /// - Throws: ``StoreFault``: `exists` with the first name that already exists, `unavailable`, or `cancelled`. An error
    ///   of the closure is `unavailable`.
    public func add(
        to realm: String,
        ignoringCase ignoresCase: Bool = false,
        progress: @escaping @Sendable (Int) -> Void = { _ in },
        from read: @escaping @Sendable (_ add: ([UserRow]) throws -> Void) throws -> Void
    ) async throws(StoreFault) {
        try await write { database in
            var addition = Addition(realm: realm, ignoresCase: ignoresCase)
            // The rows of many users do not fit into the usual cache: the same pages would be written and read again.
            try database.execute(sql: "PRAGMA cache_size = -\(Self.additionCache)")
            // If it fails, the larger cache stays until the store is closed.
            defer { try? database.execute(sql: "PRAGMA cache_size = -2000") }
            try read { users in
                for user in users {
                    if addition.count % 1000 == 0 { progress(addition.count) }
                    try addition.add(user, database: database)
                }
            }
            try addition.finish(database)
        }
    }

    /// In KiB.
    private static let additionCache = 131_072

    private struct Addition {
        let realm: String
        let ignoresCase: Bool
        var count = 0
        /// The first names that were added, for the list of changes.
        var names: [String] = []

        mutating func add(_ user: UserRow, database: Database) throws {
            let name = user.record.name.text
            if ignoresCase,
                let other = try GatehouseStore.spellings(of: user.record.name, in: realm, database: database).first
            {
                throw exists(other.text, user)
            }
            try database.cachedStatement(
                sql: """
                    INSERT INTO users (realm, name, hash, cost, enabled, expiry, must_change, folded)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
                    """
            ).execute(
                arguments: [
                    realm, name, user.hash, user.cost, user.record.isEnabled, user.record.expiry,
                    user.record.mustChangePassword, GatehouseStore.folded(user.record.name),
                ]
            )
            guard database.changesCount == 1 else { throw exists(name, user) }
            try GatehouseStore.addGroups(user.record.groups, of: name, realm: realm, database: database)
            try GatehouseStore.addAttributes(user.record.attributes, of: name, realm: realm, database: database)
            count += 1
            if names.count < GatehouseStore.rememberedChanges { names.append(name) }
        }

        private func exists(_ name: String, _ user: UserRow) -> StoreFault {
            StoreFault(.exists, "\(user.place.map { "\($0): " } ?? "")the user \(name) exists already")
        }

        func finish(_ database: Database) throws {
            guard count > GatehouseStore.rememberedChanges else {
                for name in names { try GatehouseStore.addChange(name, realm: realm, database: database) }
                if count > 0 { try GatehouseStore.forgetOldChanges(database) }
                return
            }
            // So many changes are not kept; a gap in the numbers means that a reader treats all users as changed.
            let last =
                try Int64.fetchOne(database, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'user_changes'") ?? 0
            try database.execute(sql: "DELETE FROM user_changes")
            try database.execute(
                sql: "INSERT INTO user_changes (number, realm, name) VALUES (?, ?, ?)",
                arguments: [last + Int64(count), realm, names.first]
            )
        }
    }
}
