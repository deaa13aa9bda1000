// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import GRDB
public import OpenSSLKit
internal import RealmKit
public import Sessions

/// Sessions, as a server keeps them and other programs list and end them.
extension GatehouseStore: SessionStore {
    /// How many orders are remembered; a server looks every second.
    static let rememberedOrders = 1000

    /// All sessions, and where the orders stand.
    public func loadSessions() async throws(SessionStoreError) -> SessionSnapshot {
        try await keepingSessions { store in
            try await store.read { database in
                var groups: [String: [String]] = [:]
                let members = try Row.fetchCursor(
                    database,
                    sql: #"SELECT id, "group" FROM session_groups ORDER BY id, place"#
                )
                while let row = try members.next() { groups[row[0], default: []].append(row[1]) }
                // What no server has written does not become a session.
                let sessions = try Row.fetchAll(database, sql: "SELECT * FROM sessions").compactMap { row in
                    try Self.session(row, groups: groups[row["id"]] ?? [])
                }
                // Also where there are no orders any more: numbers are never used again.
                let last = try Int.fetchOne(
                    database,
                    sql: "SELECT seq FROM sqlite_sequence WHERE name = 'session_orders'"
                )
                return SessionSnapshot(sessions: sessions, lastOrder: last ?? 0)
            }
        }
    }

    /// Keeps a new session.
    public func saveSession(_ session: SessionRecord) async throws(SessionStoreError) {
        try await keepingSessions { store in try await store.write { try Self.insert(session, $0) } }
    }

    /// Has a session be found by another token.
    public func renewSession(_ id: SessionID, token: Digest) async throws(SessionStoreError) {
        try await keepingSessions { store in
            try await store.write { database in
                try database.execute(
                    sql: "UPDATE sessions SET token = ? WHERE id = ?",
                    arguments: [Self.data(token.bytes), id.description]
                )
            }
        }
    }

    /// Takes note of when sessions were used.
    public func touchSessions(_ touches: [SessionTouch]) async throws(SessionStoreError) {
        guard !touches.isEmpty else { return }
        try await keepingSessions { store in
            try await store.write { database in
                let statement = try database.cachedStatement(
                    sql: "UPDATE sessions SET last_seen = ?, idle_end = ?, absolute_end = ? WHERE id = ?"
                )
                for touch in touches {
                    try statement.execute(
                        arguments: [
                            touch.lastSeen, touch.idleExpiry, touch.absoluteExpiry, touch.id.description,
                        ]
                    )
                }
            }
        }
    }

    /// Forgets sessions.
    public func removeSessions(_ ids: [SessionID]) async throws(SessionStoreError) {
        guard !ids.isEmpty else { return }
        try await keepingSessions { store in
            try await store.write { database in
                let statement = try database.cachedStatement(sql: "DELETE FROM sessions WHERE id = ?")
                for id in ids { try statement.execute(arguments: [id.description]) }
            }
        }
    }

    func keepingSessions<Value: Sendable>(
        _ body: (GatehouseStore) async throws -> Value
    ) async throws(SessionStoreError) -> Value {
        do {
            return try await body(self)
        } catch {
            throw SessionStoreError(StoreFault(error, path).description)
        }
    }
}
