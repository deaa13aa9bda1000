// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import Glibc
internal import RealmKit
package import Throttle

/// The failed logins and locks of a throttle, which other programs can list and clear.
extension GatehouseStore: ThrottleStore {
    /// A server reads new resets several times a second, so older ones are not needed.
    static let rememberedResets = 1000

    /// Reads all records that have not expired, and the number of the last reset.
    package func load() async throws(ThrottleStoreError) -> ThrottleSnapshot {
        let now = Int(time(nil))
        return try await withThrottleErrors { store throws(StoreFault) in
            try await store.read { database in
                let rows = try database.rows("SELECT * FROM throttle_records WHERE expiry > ?", [now])
                return ThrottleSnapshot(
                    records: rows.map(Self.record),
                    lastReset: try database.lastNumber(of: "throttle_clearances")
                )
            }
        }
    }

    /// Stores changes, or none if one of them cannot be stored.
    package func save(_ changes: [ThrottleChange]) async throws(ThrottleStoreError) {
        let now = Int(time(nil))
        try await withThrottleErrors { store throws(StoreFault) in
            try await store.write { database in
                for change in changes {
                    switch change {
                    case .save(let record): try Self.save(record, to: database)
                    case .remove(let key): try Self.remove(key, from: database)
                    case .removeAll: try database.run("DELETE FROM throttle_records")
                    }
                }
                try database.run("DELETE FROM throttle_records WHERE expiry <= ?", [now])
            }
        }
    }

    /// Reads the resets after a number, and removes the others.
    package func lockoutResets(after number: Int) async throws(ThrottleStoreError) -> [LockoutReset] {
        try await withThrottleErrors { store throws(StoreFault) in
            try await store.rows(of: "throttle_clearances", after: number) { row in
                LockoutReset(number: row["number"], scope: Self.key(row).map { .one($0) } ?? .all)
            }
        }
    }

    /// Removes records, and stores the reset for a running server.
    package func clear(_ scope: LockoutReset.Scope) async throws(ThrottleStoreError) {
        try await withThrottleErrors { store throws(StoreFault) in
            try await store.write { database in
                var columns = (kind: "all", realm: "", name: "")
                switch scope {
                case .one(let key):
                    try Self.remove(key, from: database)
                    columns = Self.columns(key)
                case .all: try database.run("DELETE FROM throttle_records")
                }
                try database.run(
                    "INSERT INTO throttle_clearances (kind, realm, name) VALUES (?, ?, ?)",
                    [columns.kind, columns.realm, columns.name]
                )
                try database.keepLast(Self.rememberedResets, of: "throttle_clearances")
            }
        }
    }

    private func withThrottleErrors<Value: Sendable>(
        _ body: (GatehouseStore) async throws(StoreFault) -> Value
    ) async throws(ThrottleStoreError) -> Value {
        do throws(StoreFault) { return try await body(self) } catch { throw ThrottleStoreError(error.description) }
    }

    // MARK: Rows

    private static func save(_ record: ThrottleRecord, to database: Database) throws {
        let (kind, realm, name) = columns(record.key)
        try database.run(
            """
            INSERT OR REPLACE INTO throttle_records (kind, realm, name, owner, failures, newest, lock_end, expiry)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                kind, realm, name, record.owner?.description, record.failures, record.newest, record.lockEnd,
                record.expiry,
            ]
        )
    }

    private static func remove(_ key: ThrottleKey, from database: Database) throws {
        let (kind, realm, name) = columns(key)
        try database.run("DELETE FROM throttle_records WHERE kind = ? AND realm = ? AND name = ?", [kind, realm, name])
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
