// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Foundation
internal import GRDB
internal import OpenSSLKit
internal import RealmKit
package import Sessions

/// The sessions of a server, which other programs can list and end.
extension GatehouseStore: SessionStore {
    /// A server reads new commands every second, so older ones are not needed.
    static let rememberedCommands = 1000

    /// Reads all sessions, and the number of the last command.
    package func loadSessions() async throws(SessionStoreError) -> SessionSnapshot {
        try await withSessionErrors { store throws(StoreFault) in
            let ended = try await store.endedSessions?.read() ?? []
            // The file is opened here, so that its IDs can be removed later.
            if !ended.isEmpty, !store.isReadOnly { try await store.endedSessions?.prepare() }
            return try await store.read { database in
                let groups = try database.grouped(
                    #"SELECT id, "group" FROM session_groups ORDER BY id, place"#
                ) { $0[1] as String }
                let attributes = try database.grouped(
                    "SELECT id, name, value FROM session_attributes ORDER BY id, place"
                ) { ($0[1] as String, $0[2] as String) }.mapValues(Self.attributes)
                // A row that is not a valid session is skipped.
                let sessions = try database.rows("SELECT * FROM sessions").compactMap { row in
                    let id = UTF8Text(row["id"])
                    return try Self.session(row, groups: groups[id] ?? [], attributes: attributes[id] ?? [])
                }.filter { !ended.contains($0.id) }
                return SessionSnapshot(
                    sessions: sessions,
                    ended: Array(ended),
                    lastCommand: try database.lastNumber(of: "session_orders")
                )
            }
        }
    }

    /// Prepares the file for ended sessions, and stores a new session.
    package func saveSession(_ session: SessionRecord) async throws(SessionStoreError) {
        try await withSessionErrors { store throws(StoreFault) in
            try await store.endedSessions?.prepare()
            try await store.write { try Self.insert(session, into: $0) }
        }
    }

    /// Stores the times of the last use of sessions.
    package func touchSessions(_ touches: [SessionTouch]) async throws(SessionStoreError) {
        guard !touches.isEmpty else { return }
        try await withSessionErrors { store throws(StoreFault) in
            try await store.write { database in
                for touch in touches {
                    try database.run(
                        "UPDATE sessions SET last_seen = ?, idle_end = ?, absolute_end = ? WHERE id = ?",
                        [touch.lastSeen, touch.idleExpiry, touch.absoluteExpiry, touch.id.description]
                    )
                }
            }
        }
    }

    /// Removes sessions.
    package func removeSessions(_ ids: [SessionID]) async throws(SessionStoreError) {
        guard !ids.isEmpty else { return }
        try await withSessionErrors { store throws(StoreFault) in
            try await store.write { database in
                for id in ids { try database.run("DELETE FROM sessions WHERE id = ?", [id.description]) }
            }
            // An ID that remains in the file only occupies a line, because its session was removed.
            try? await store.endedSessions?.remove(ids)
        }
    }

    /// Writes the IDs of ended sessions to a file in the folder of the database.
    package func recordEnded(_ ids: [SessionID]) async throws(SessionStoreError) {
        try await withSessionErrors { store throws(StoreFault) in
            guard let file = store.endedSessions else {
                throw StoreFault(.unavailable, "a store in memory has no file for ended sessions")
            }
            try await file.add(ids)
        }
    }

    func withSessionErrors<Value: Sendable>(
        _ body: (GatehouseStore) async throws(StoreFault) -> Value
    ) async throws(SessionStoreError) -> Value {
        do throws(StoreFault) { return try await body(self) } catch { throw SessionStoreError(error.description) }
    }
}

/// The conversions between sessions and rows of the database.
extension GatehouseStore {
    static func insert(_ session: SessionRecord, into database: Database) throws {
        let id = session.id.description
        try database.run(
            """
            INSERT INTO sessions
                (id, token, realm, name, host, parent, address, agent, created, last_seen, idle_end, absolute_end,
                    stamp_salt, stamp)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                id, Data(session.token.bytes), session.user.realm, session.user.username.text, session.host.name,
                session.parent?.description, session.client.address, session.client.userAgent, session.created,
                session.lastSeen, session.idleExpiry, session.absoluteExpiry, session.stamp.map { Data($0.salt) },
                session.stamp.map { Data($0.digest.bytes) },
            ]
        )
        for (place, group) in session.user.groups.enumerated() {
            try database.run(#"INSERT INTO session_groups (id, place, "group") VALUES (?, ?, ?)"#, [id, place, group])
        }
        for (place, (name, value)) in session.user.attributes.flattened.enumerated() {
            try database.run(
                "INSERT INTO session_attributes (id, place, name, value) VALUES (?, ?, ?, ?)",
                [id, place, name, value]
            )
        }
    }

    static func session(_ row: Row, groups: [String], attributes: [UserAttribute]) throws -> SessionRecord? {
        guard let id = SessionID(row["id"] as String), let token = digest(row["token"]), let name = name(row),
            let host = SessionHost(row["host"] as String)
        else { return nil }
        // A row whose parent cannot be read is not the session of a sign-in, so it is not loaded as one.
        var parent: SessionID?
        if let text = row["parent"] as String? {
            guard let id = SessionID(text) else { return nil }
            parent = id
        }
        var stamp: SaltedStamp?
        if let salt = row["stamp_salt"] as Data?, let kept = row["stamp"] as Data? {
            guard let digest = digest(kept) else { return nil }
            stamp = SaltedStamp(salt: Array(salt), digest: digest)
        }
        return SessionRecord(
            id,
            token: token,
            user: SignedInUser(realm: row["realm"], username: name, groups: groups, attributes: attributes),
            host: host,
            parent: parent,
            client: SessionClient(address: row["address"], userAgent: row["agent"]),
            created: row["created"],
            lastSeen: row["last_seen"],
            idleExpiry: row["idle_end"],
            absoluteExpiry: row["absolute_end"],
            stamp: stamp
        )
    }

    static func name(_ row: Row) -> Username? { try? Username(row["name"]) }

    private static func digest(_ data: Data) -> Digest? { Digest(bytes: Array(data)) }
}
