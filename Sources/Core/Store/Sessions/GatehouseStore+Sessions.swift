// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import RealmKit
public import Sessions

/// The sessions of a server.
///
/// Other programs can list and end them.
extension GatehouseStore: SessionStore {
    /// The number of commands that are kept.
    ///
    /// A server reads new commands every second, so older commands are not needed.
    static let rememberedCommands = 1000

    /// Reads all sessions, and the number of the last command.
    public func loadSessions() async throws(SessionStoreError) -> SessionSnapshot {
        try await withSessionErrors { store in
            let ended = try await store.endedSessions?.read() ?? []
            // The file is opened here, so that its IDs can be removed later.
            if !ended.isEmpty, !store.isReadOnly { try await store.endedSessions?.prepare() }
            return try await store.read { database in
                var groups: [String: [String]] = [:]
                let members = try Row.fetchCursor(
                    database,
                    sql: #"SELECT id, "group" FROM session_groups ORDER BY id, place"#
                )
                while let row = try members.next() { groups[row[0], default: []].append(row[1]) }
                let attributes = try Self.attributes(in: database)
                // A row that is not a valid session is skipped.
                let sessions = try Row.fetchAll(database, sql: "SELECT * FROM sessions").compactMap { row in
                    try Self.session(row, groups: groups[row["id"]] ?? [], attributes: attributes[row["id"]] ?? [])
                }.filter { !ended.contains($0.id) }
                // The number is read from the sequence, because the table may be empty. Numbers are never reused.
                let last = try Int.fetchOne(
                    database,
                    sql: "SELECT seq FROM sqlite_sequence WHERE name = 'session_orders'"
                )
                return SessionSnapshot(sessions: sessions, ended: Array(ended), lastCommand: last ?? 0)
            }
        }
    }

    /// Prepares the file for ended sessions, and stores a new session.
    public func saveSession(_ session: SessionRecord) async throws(SessionStoreError) {
        try await withSessionErrors { store in
            try await store.endedSessions?.prepare()
            try await store.write { try Self.insert(session, into: $0) }
        }
    }

    /// Stores the times of the last use of sessions.
    public func touchSessions(_ touches: [SessionTouch]) async throws(SessionStoreError) {
        guard !touches.isEmpty else { return }
        try await withSessionErrors { store in
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

    /// Removes sessions.
    public func removeSessions(_ ids: [SessionID]) async throws(SessionStoreError) {
        guard !ids.isEmpty else { return }
        try await withSessionErrors { store in
            try await store.write { database in
                let statement = try database.cachedStatement(sql: "DELETE FROM sessions WHERE id = ?")
                for id in ids { try statement.execute(arguments: [id.description]) }
            }
            do {
                try await store.endedSessions?.remove(ids)
            } catch {
                // An ID that remains in the file only occupies a line, because its session was removed.
            }
        }
    }

    /// Writes the IDs of ended sessions to a file in the folder of the database.
    public func recordEnded(_ ids: [SessionID]) async throws(SessionStoreError) {
        try await withSessionErrors { store in
            guard let file = store.endedSessions else {
                throw StoreFault(.unavailable, "a store in memory has no file for ended sessions")
            }
            try await file.add(ids)
        }
    }

    func withSessionErrors<Value: Sendable>(
        _ body: (GatehouseStore) async throws -> Value
    ) async throws(SessionStoreError) -> Value {
        do {
            return try await body(self)
        } catch {
            throw SessionStoreError(StoreFault(error, path: path).description)
        }
    }
}
