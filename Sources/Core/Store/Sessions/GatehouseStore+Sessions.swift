// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import GRDB
internal import OpenSSLKit
internal import RealmKit
public import Sessions

/// The sessions of a server, which other programs can list and end.
extension GatehouseStore: SessionStore {
    /// A server reads new commands every second, so older ones are not needed.
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
                        arguments: [touch.lastSeen, touch.idleExpiry, touch.absoluteExpiry, touch.id.description]
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
            // An ID that remains in the file only occupies a line, because its session was removed.
            try? await store.endedSessions?.remove(ids)
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

/// The conversions between sessions and rows of the database.
extension GatehouseStore {
    static func insert(_ session: SessionRecord, into database: Database) throws {
        let id = session.id.description
        try database.execute(
            sql: """
                INSERT INTO sessions
                    (id, token, realm, name, host, parent, address, agent, created, last_seen, idle_end, absolute_end,
                        stamp_salt, stamp)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                id, Data(session.token.bytes), session.user.realm, session.user.username.text, session.host.name,
                session.parent?.description, session.client.address, session.client.userAgent, session.created,
                session.lastSeen, session.idleExpiry,
                session.absoluteExpiry, session.stamp.map { Data($0.salt) },
                session.stamp.map { Data($0.digest.bytes) },
            ]
        )
        for (place, group) in session.user.groups.enumerated() {
            try database.execute(
                sql: #"INSERT INTO session_groups (id, place, "group") VALUES (?, ?, ?)"#,
                arguments: [id, place, group]
            )
        }
        let values = session.user.attributes.flatMap { attribute in attribute.values.map { (attribute.name, $0) } }
        for (place, (name, value)) in values.enumerated() {
            try database.execute(
                sql: "INSERT INTO session_attributes (id, place, name, value) VALUES (?, ?, ?, ?)",
                arguments: [id, place, name, value]
            )
        }
    }

    /// Returns the attributes of all sessions, by the ID of the session, without those that are not valid.
    static func attributes(in database: Database) throws -> [String: [UserAttribute]] {
        var values: [String: [(attribute: String, value: String)]] = [:]
        let sql = "SELECT id, name, value FROM session_attributes ORDER BY id, place"
        let rows = try Row.fetchCursor(database, sql: sql)
        while let row = try rows.next() { values[row[0], default: []].append((row[1], row[2])) }
        return values.mapValues(Self.attributes)
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
