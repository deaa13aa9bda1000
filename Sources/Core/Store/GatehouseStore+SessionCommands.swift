// SPDX-License-Identifier: Apache-2.0

internal import Files
internal import GRDB
internal import RealmKit
package import Sessions

extension GatehouseStore {
    /// Reads the commands after a number, and removes the others.
    package func sessionCommands(after number: Int) async throws(SessionStoreError) -> [SessionCommand] {
        try await withSessionErrors { store throws(StoreFault) in
            try await store.rows(of: "session_orders", after: number) { row in
                // A command that cannot be read may be meant for any session, so it ends all sessions.
                let action: SessionCommand.Action =
                    switch (Self.selection(row), row["message"] as String?) {
                    case (let selection?, let message?): .message(selection, message)
                    case (let selection?, nil): .end(selection)
                    case (nil, _): .end(.all)
                    }
                return SessionCommand(number: row["number"], action: action)
            }
        }
    }

    /// Stores a command for a running server, and removes the sessions that it ends.
    package func storeCommand(_ action: SessionCommand.Action) async throws(SessionStoreError) -> Int {
        try await withSessionErrors { store throws(StoreFault) in
            try await store.write { database in
                let selection: SessionSelection
                var message: String?
                switch action {
                case .end(let ended): selection = ended
                case .message(let addressed, let text): (selection, message) = (addressed, text)
                }
                let columns = Self.columns(selection)
                // Child sessions are neither counted nor selected. They are removed with their parents.
                let condition = "WHERE parent IS NULL AND \(columns.condition)"
                let count = try database.rows("SELECT count(*) FROM sessions \(condition)", columns.arguments)
                if message == nil { try database.run("DELETE FROM sessions \(condition)", columns.arguments) }
                try database.run(
                    "INSERT INTO session_orders (kind, id, realm, name, message) VALUES (?, ?, ?, ?, ?)",
                    [columns.kind, columns.id, columns.realm, columns.name, message]
                )
                try database.keepLast(Self.rememberedCommands, of: "session_orders")
                return count.first?[0] ?? 0
            }
        }
    }

    /// Returns the rows of a list for a running server after a number, and removes the others, which are confirmed.
    func rows<Value: Sendable>(
        of table: String,
        after number: Int,
        _ value: @escaping @Sendable (Row) -> Value
    ) async throws(StoreFault) -> [Value] {
        let isConfirmed = try await read { database in
            try !database.rows("SELECT 1 FROM \(table) WHERE number <= ? LIMIT 1", [number]).isEmpty
        }
        if isConfirmed { try await write { try $0.run("DELETE FROM \(table) WHERE number <= ?", [number]) } }
        return try await read { database in
            try database.rows("SELECT * FROM \(table) WHERE number > ? ORDER BY number", [number]).map(value)
        }
    }

    /// Returns whether a server runs that has not carried out all stored commands and resets.
    package func isServerBehind() async throws(StoreFault) -> Bool {
        guard let folder, StateFolder.Lock.isServerRunning(in: folder) else { return false }
        return try await read { database in
            try !database.rows("SELECT 1 FROM session_orders UNION ALL SELECT 1 FROM throttle_clearances LIMIT 1")
                .isEmpty
        }
    }

    struct SelectionColumns {
        let kind: String
        var id = ""
        var realm = ""
        var name = ""
        let condition: String
        var arguments = StatementArguments()
    }

    static func columns(_ selection: SessionSelection) -> SelectionColumns {
        switch selection {
        case .one(let id):
            let id = id.description
            // The ID of a child session stands for the session of its sign-in.
            let condition = "id = (SELECT coalesce(parent, id) FROM sessions WHERE id = ?)"
            return SelectionColumns(kind: "one", id: id, condition: condition, arguments: [id])
        case .user(let realm, let name):
            return SelectionColumns(
                kind: "user",
                realm: realm,
                name: name.text,
                condition: "realm = ? AND name = ?",
                arguments: [realm, name.text]
            )
        case .realm(let realm):
            return SelectionColumns(kind: "realm", realm: realm, condition: "realm = ?", arguments: [realm])
        case .all: return SelectionColumns(kind: "all", condition: "true")
        }
    }

    private static func selection(_ row: Row) -> SessionSelection? {
        switch row["kind"] as String {
        case "one": SessionID(row["id"] as String).map(SessionSelection.one)
        case "user": name(row).map { .user(realm: row["realm"], name: $0) }
        case "realm": .realm(row["realm"])
        case "all": .all
        default: nil
        }
    }
}

/// A session of a sign-in for a list, with the sessions that were handed over from it.
package struct ListedSession: Sendable {
    /// Without groups and attributes.
    package let session: SessionRecord
    /// Without groups and attributes, by their hosts.
    package let children: [SessionRecord]
}

/// The sessions for a list of an administrator.
///
/// They are read in parts: a long list needs little memory, and no transaction stays open while it is printed.
extension GatehouseStore {
    package static let listedSessionsBatch = 200

    /// Returns the sessions of sign-ins that have not expired at a time in seconds since 1970, the last used first.
    package func signInSessions(
        _ selection: SessionSelection,
        at now: Int
    ) async throws(SessionStoreError) -> [SessionID] {
        try await withSessionErrors { store throws(StoreFault) in
            let ended = try await store.endedSessions?.read() ?? []
            return try await store.read { database in
                let columns = Self.columns(selection)
                let sql = """
                    SELECT id FROM sessions
                    WHERE parent IS NULL AND min(idle_end, absolute_end) > ? AND \(columns.condition)
                    ORDER BY last_seen DESC, id
                    """
                // A row that is not a valid session is skipped.
                return try String.fetchAll(database, sql: sql, arguments: [now] + columns.arguments)
                    .compactMap(SessionID.init).filter { !ended.contains($0) }
            }
        }
    }

    /// Returns at most ``listedSessionsBatch`` sessions of sign-ins that still exist, in the order of the IDs.
    package func listedSessions(_ ids: [SessionID], at now: Int) async throws(SessionStoreError) -> [ListedSession] {
        try await withSessionErrors { store throws(StoreFault) in
            let ended = try await store.endedSessions?.read() ?? []
            return try await store.read { database in
                func sessions(_ condition: String, _ id: SessionID) throws -> [SessionRecord] {
                    try database.rows(
                        "SELECT * FROM sessions WHERE \(condition) AND min(idle_end, absolute_end) > ? ORDER BY host, id",
                        [id.description, now]
                    ).compactMap { try Self.session($0, groups: [], attributes: []) }.filter { !ended.contains($0.id) }
                }
                return try ids.compactMap { id in
                    guard let session = try sessions("id = ?", id).first else { return nil }
                    return ListedSession(session: session, children: try sessions("parent = ?", id))
                }
            }
        }
    }
}
