// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import Glibc
internal import RealmKit
public import Throttle

/// The failed logins and locks of a throttle, which other programs can list and clear.
extension GatehouseStore: ThrottleStore {
    /// A server reads new resets several times a second, so older ones are not needed.
    static let rememberedResets = 1000

    /// Reads all records that have not expired, and the number of the last reset.
    public func load() async throws(ThrottleStoreError) -> ThrottleSnapshot {
        let now = Int(time(nil))
        return try await withThrottleErrors { store in
            try await store.read { database in
                let rows = try Row.fetchAll(
                    database,
                    sql: "SELECT * FROM throttle_records WHERE expiry > ?",
                    arguments: [now]
                )
                // The number is read from the sequence, because the table may be empty. Numbers are never reused.
                let last = try Int.fetchOne(
                    database,
                    sql: "SELECT seq FROM sqlite_sequence WHERE name = 'throttle_clearances'"
                )
                return ThrottleSnapshot(records: rows.map(Self.record), lastReset: last ?? 0)
            }
        }
    }

    /// Stores changes, or none if one of them cannot be stored.
    public func save(_ changes: [ThrottleChange]) async throws(ThrottleStoreError) {
        let now = Int(time(nil))
        try await withThrottleErrors { store in
            try await store.write { database in
                for change in changes {
                    switch change {
                    case .save(let record): try Self.save(record, to: database)
                    case .remove(let key): try Self.remove(key, from: database)
                    case .removeAll: try database.execute(sql: "DELETE FROM throttle_records")
                    }
                }
                try database.execute(sql: "DELETE FROM throttle_records WHERE expiry <= ?", arguments: [now])
            }
        }
    }

    /// Reads the resets after a number, and removes the others.
    public func lockoutResets(after number: Int) async throws(ThrottleStoreError) -> [LockoutReset] {
        try await withThrottleErrors { store in
            try await store.removeConfirmed(from: "throttle_clearances", through: number)
            return try await store.read { database in
                try Row.fetchAll(
                    try database.cachedStatement(
                        sql:
                            "SELECT number, kind, realm, name FROM throttle_clearances WHERE number > ? ORDER BY number"
                    ),
                    arguments: [number]
                ).map { row in
                    guard let key = Self.key(row) else { return LockoutReset(number: row["number"], scope: .all) }
                    return LockoutReset(number: row["number"], scope: .one(key))
                }
            }
        }
    }

    /// Removes records, and stores the reset for a running server.
    public func clear(_ scope: LockoutReset.Scope) async throws(ThrottleStoreError) {
        try await withThrottleErrors { store in
            try await store.write { database in
                var columns = (kind: "all", realm: "", name: "")
                switch scope {
                case .one(let key):
                    try Self.remove(key, from: database)
                    columns = Self.columns(key)
                case .all: try database.execute(sql: "DELETE FROM throttle_records")
                }
                try database.execute(
                    sql: "INSERT INTO throttle_clearances (kind, realm, name) VALUES (?, ?, ?)",
                    arguments: [columns.kind, columns.realm, columns.name]
                )
                try database.execute(
                    sql: "DELETE FROM throttle_clearances WHERE number <= ?",
                    arguments: [database.lastInsertedRowID - Int64(Self.rememberedResets)]
                )
            }
        }
    }

    private func withThrottleErrors<Value: Sendable>(
        _ body: (GatehouseStore) async throws -> Value
    ) async throws(ThrottleStoreError) -> Value {
        do {
            return try await body(self)
        } catch {
            throw ThrottleStoreError(StoreFault(error, path: path).description)
        }
    }

    // MARK: Rows

    private static func save(_ record: ThrottleRecord, to database: Database) throws {
        let (kind, realm, name) = columns(record.key)
        try database.execute(
            sql: """
                INSERT OR REPLACE INTO throttle_records
                    (kind, realm, name, owner, failures, newest, lock_end, expiry)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                kind, realm, name, record.owner?.description, record.failures, record.newest, record.lockEnd,
                record.expiry,
            ]
        )
    }

    private static func remove(_ key: ThrottleKey, from database: Database) throws {
        let (kind, realm, name) = columns(key)
        try database.execute(
            sql: "DELETE FROM throttle_records WHERE kind = ? AND realm = ? AND name = ?",
            arguments: [kind, realm, name]
        )
    }

    private static func columns(_ key: ThrottleKey) -> (kind: String, realm: String, name: String) {
        switch key {
        case .account(let account): ("account", account.realm, account.key)
        case .source(let source): ("source", "", source.description)
        }
    }

    private static func key(_ row: Row) -> ThrottleKey? {
        switch row["kind"] as String {
        case "account": .account(Account(realm: row["realm"], key: row["name"]))
        case "source": .source(ClientNetwork(row["name"]))
        default: nil
        }
    }

    private static func record(_ row: Row) -> ThrottleRecord {
        ThrottleRecord(
            key(row) ?? .source(ClientNetwork(row["name"])),
            owner: (row["owner"] as String?).map(ClientNetwork.init),
            failures: row["failures"],
            newest: row["newest"],
            lockEnd: row["lock_end"],
            expiry: row["expiry"]
        )
    }
}
