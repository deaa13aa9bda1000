// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import GRDB
internal import Glibc
internal import RealmKit
public import Throttle

/// Failed logins and locks, as a throttle keeps them and other programs list and clear them.
extension GatehouseStore: ThrottleStore {
    /// How many clearances are remembered; a server looks several times a second.
    static let rememberedClearances = 1000

    /// All records that still say something, and where the clearances stand.
    public func load() async throws(ThrottleStoreError) -> ThrottleSnapshot {
        let now = Int(time(nil))
        return try await throttling { store in
            try await store.read { database in
                let rows = try Row.fetchAll(
                    database,
                    sql: "SELECT * FROM throttle_records WHERE expiry > ?",
                    arguments: [now]
                )
                let last = try Int.fetchOne(database, sql: "SELECT max(number) FROM throttle_clearances")
                return ThrottleSnapshot(records: rows.map(Self.record), lastClearance: last ?? 0)
            }
        }
    }

    /// Keeps changes, all of them or none.
    public func save(_ changes: [ThrottleChange]) async throws(ThrottleStoreError) {
        let now = Int(time(nil))
        try await throttling { store in
            try await store.write { database in
                for change in changes {
                    switch change {
                    case .save(let record): try Self.save(record, database)
                    case .remove(let key): try Self.remove(key, database)
                    case .removeAll: try database.execute(sql: "DELETE FROM throttle_records")
                    }
                }
                try database.execute(sql: "DELETE FROM throttle_records WHERE expiry <= ?", arguments: [now])
            }
        }
    }

    /// What was cleared after another clearance.
    public func clearances(after number: Int) async throws(ThrottleStoreError) -> [Clearance] {
        try await throttling { store in
            try await store.read { database in
                try Row.fetchAll(
                    try database.cachedStatement(
                        sql:
                            "SELECT number, kind, realm, name FROM throttle_clearances WHERE number > ? ORDER BY number"
                    ),
                    arguments: [number]
                ).map { row in
                    guard let key = Self.key(row) else { return Clearance(number: row["number"], .all) }
                    return Clearance(number: row["number"], .one(key))
                }
            }
        }
    }

    /// Removes records, and notes it for a server that is running.
    public func clear(_ what: Clearance.What) async throws(ThrottleStoreError) {
        try await throttling { store in
            try await store.write { database in
                var columns = (kind: "all", realm: "", name: "")
                switch what {
                case .one(let key):
                    try Self.remove(key, database)
                    columns = Self.columns(key)
                case .all: try database.execute(sql: "DELETE FROM throttle_records")
                }
                try database.execute(
                    sql: "INSERT INTO throttle_clearances (kind, realm, name) VALUES (?, ?, ?)",
                    arguments: [columns.kind, columns.realm, columns.name]
                )
                try database.execute(
                    sql: "DELETE FROM throttle_clearances WHERE number <= ?",
                    arguments: [database.lastInsertedRowID - Int64(Self.rememberedClearances)]
                )
            }
        }
    }

    private func throttling<Value: Sendable>(
        _ body: (GatehouseStore) async throws -> Value
    ) async throws(ThrottleStoreError) -> Value {
        do {
            return try await body(self)
        } catch {
            throw ThrottleStoreError(StoreFault(error, path).description)
        }
    }

    // MARK: Rows

    private static func save(_ record: ThrottleRecord, _ database: Database) throws {
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

    private static func remove(_ key: ThrottleKey, _ database: Database) throws {
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
        case "source": .source(Source(row["name"]))
        default: nil
        }
    }

    private static func record(_ row: Row) -> ThrottleRecord {
        ThrottleRecord(
            key(row) ?? .source(Source(row["name"])),
            owner: (row["owner"] as String?).map(Source.init),
            failures: row["failures"],
            newest: row["newest"],
            lockEnd: row["lock_end"],
            expiry: row["expiry"]
        )
    }
}
