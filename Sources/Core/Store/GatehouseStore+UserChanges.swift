// SPDX-License-Identifier: Apache-2.0

internal import GRDB
package import RealmKit

extension GatehouseStore {
    /// The number of kept changes; a reader that has missed a removed one must treat all users as changed.
    static let rememberedChanges = 10_000

    /// Changes a user if the stored hash is still the one to replace, and a condition holds; returns whether it did.
    ///
    /// `cost` is that of a check of the new hash.
    @discardableResult
    package func change(
        _ user: Username,
        in realm: String,
        changes: UserChanges,
        cost: String?,
        if condition: @escaping @Sendable (UserRecord) -> Bool = { _ in true }
    ) async throws(StoreFault) -> Bool {
        try await write { database in
            guard let stored = try Self.user(user, in: realm, database: database) else {
                throw StoreFault(.missing, "there is no user \(user)")
            }
            if changes.hash != nil, let replaced = changes.replacing, stored.hash != replaced { return false }
            guard condition(stored.record) else { return false }
            let key: StatementArguments = [realm, user.text]
            func assign(_ column: String, _ value: (any DatabaseValueConvertible)?) throws {
                try database.run("UPDATE users SET \(column) = ? WHERE realm = ? AND name = ?", [value] + key)
            }
            if let hash = changes.hash {
                try assign("hash", hash)
                try assign("cost", cost)
            }
            if let isEnabled = changes.isEnabled { try assign("enabled", isEnabled) }
            if let expiry = changes.expiry { try assign("expiry", expiry) }
            if let mustChange = changes.mustChangePassword { try assign("must_change", mustChange) }
            if let groups = changes.groups {
                try database.run("DELETE FROM user_groups WHERE realm = ? AND name = ?", key)
                try Self.addGroups(groups, of: user.text, realm: realm, database: database)
            }
            if !changes.attributes.isEmpty {
                var attributes = stored.record.attributes
                attributes.apply(changes.attributes)
                try database.run("DELETE FROM user_attributes WHERE realm = ? AND name = ?", key)
                try Self.addAttributes(attributes, of: user.text, realm: realm, database: database)
            }
            // A new hash of the same password is not reported as a change.
            if changes.replacing == nil { try Self.recordChanges([user.text], realm: realm, database: database) }
            return true
        }
    }

    package func remove(_ user: Username, from realm: String) async throws(StoreFault) {
        try await write { database in
            try database.run("DELETE FROM users WHERE realm = ? AND name = ?", [realm, user.text])
            guard database.changesCount > 0 else { throw StoreFault(.missing, "there is no user \(user)") }
            try Self.recordChanges([user.text], realm: realm, database: database)
        }
    }

    /// Reads the users whose password, groups or state have changed since a change, and the number of the last change.
    ///
    /// `number` is that of the last known change; with nil, only the number of the last change is read.
    package func changes(
        in realm: String,
        after number: Int64?
    ) async throws(StoreFault) -> (number: Int64, users: ChangedUsers) {
        try await read { database in
            let bounds = try database.rows("SELECT min(number), max(number) FROM user_changes").first
            let first = bounds?[0] as Int64? ?? 0
            let last = bounds?[1] as Int64? ?? 0
            guard let number else { return (last, .none) }
            // Numbers are never reused. If the last number is lower than the known number, the file was replaced.
            guard number <= last, number + 1 >= first else { return (last, .all) }
            guard number < last else { return (last, .none) }
            let names = try database.rows(
                "SELECT DISTINCT name FROM user_changes WHERE number > ? AND realm = ?",
                [number, realm]
            )
            return (last, .some(Set(try names.map { try Username($0[0]) })))
        }
    }

    /// Adds changes, and removes all but the last ones.
    private static func recordChanges(_ names: [String], realm: String, database: Database) throws {
        guard !names.isEmpty else { return }
        for name in names { try database.run("INSERT INTO user_changes (realm, name) VALUES (?, ?)", [realm, name]) }
        try database.keepLast(rememberedChanges, of: "user_changes")
    }

    /// Adds users that are read while they are added; the format of a record is the cost of a check of the hash, as text.
    ///
    /// If one of the users cannot be added, or the closure throws an error, no user is added. Other programs cannot
    /// write to the store until all users are added.
    ///
    /// With `ignoringCase`, a name that differs from a stored name in case only exists already. `progress` is called after
    /// every 1,000 users with the number of users that are added. `read` passes the users in batches to its argument.
    ///
    /// - Throws: ``StoreFault``: `exists` with the first name that already exists, `unavailable`, or `cancelled`. An error
    ///   of the closure is `unavailable`.
    package func add(
        to realm: String,
        ignoringCase ignoresCase: Bool = false,
        progress: @escaping @Sendable (Int) -> Void = { _ in },
        from read: @escaping @Sendable (_ add: ([NewUser]) throws(StoreFault) -> Void) throws -> Void
    ) async throws(StoreFault) {
        try await write { [path] database in
            var addition = Addition(realm: realm, ignoresCase: ignoresCase)
            // The rows of many users do not fit into the usual cache: the same pages would be written and read again.
            try database.execute(sql: "PRAGMA cache_size = -\(Self.additionCache)")
            // If it fails, the larger cache stays until the store is closed.
            defer { try? database.execute(sql: "PRAGMA cache_size = -2000") }
            try read { users throws(StoreFault) in
                do {
                    for user in users {
                        if addition.count % 1000 == 0 { progress(addition.count) }
                        try addition.add(user, database: database)
                    }
                } catch {
                    throw StoreFault(error, path: path)
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

        mutating func add(_ user: NewUser, database: Database) throws {
            let record = user.record
            let name = record.name.text
            if ignoresCase,
                let other = try GatehouseStore.spellings(of: record.name, in: realm, database: database).first
            {
                throw exists(other.text, user)
            }
            try database.run(
                """
                INSERT INTO users (realm, name, hash, cost, enabled, expiry, must_change, folded)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
                """,
                [
                    realm, name, user.hash, record.format, record.isEnabled, record.expiry, record.mustChangePassword,
                    GatehouseStore.folded(record.name),
                ]
            )
            guard database.changesCount == 1 else { throw exists(name, user) }
            try GatehouseStore.addGroups(record.groups, of: name, realm: realm, database: database)
            try GatehouseStore.addAttributes(record.attributes, of: name, realm: realm, database: database)
            count += 1
            if names.count < GatehouseStore.rememberedChanges { names.append(name) }
        }

        private func exists(_ name: String, _ user: NewUser) -> StoreFault {
            StoreFault(.exists, "\(user.place.map { "\($0): " } ?? "")the user \(name) exists already")
        }

        func finish(_ database: Database) throws {
            guard count > GatehouseStore.rememberedChanges else {
                return try GatehouseStore.recordChanges(names, realm: realm, database: database)
            }
            // So many changes are not kept; a gap in the numbers means that a reader treats all users as changed.
            let last = try database.lastNumber(of: "user_changes")
            try database.run("DELETE FROM user_changes")
            try database.run(
                "INSERT INTO user_changes (number, realm, name) VALUES (?, ?, ?)",
                [last + count, realm, names.first]
            )
        }
    }
}
