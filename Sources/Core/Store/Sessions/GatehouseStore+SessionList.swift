// SPDX-License-Identifier: Apache-2.0

internal import GRDB
internal import RealmKit
package import Sessions

/// A session for a list, with the sessions that were handed over from it.
package struct ListedSession: Sendable {
    /// The session of a sign-in, without groups and attributes.
    package let session: SessionRecord
    /// The sessions at other hosts, without groups and attributes, by their hosts.
    package let children: [SessionRecord]
}

/// The sessions for a list of an administrator.
///
/// They are read in parts, so that a list of any length needs little memory, and no transaction stays open while the
/// list is printed.
extension GatehouseStore {
    /// The maximum number of sessions in one call of ``listedSessions(_:at:)``.
    package static let listedSessionsBatch = 200

    /// Returns the sessions of sign-ins, the session that was used last first.
    ///
    /// - Parameters:
    ///   - selection: The sessions to select.
    ///   - now: The time in seconds since 1970. Sessions that have expired are left out.
    /// - Returns: The IDs of the sessions.
    /// - Throws: ``SessionStoreError`` when the store cannot be read.
    package func signInSessions(
        _ selection: SessionSelection,
        at now: Int
    ) async throws(SessionStoreError) -> [SessionID] {
        try await withSessionErrors { store in
            let ended = try await store.endedSessions?.read() ?? []
            return try await store.read { database in
                let columns = Self.columns(selection)
                let sql = """
                    SELECT id FROM sessions
                    WHERE parent IS NULL AND min(idle_end, absolute_end) > ? AND \(columns.condition)
                    ORDER BY last_seen DESC, id
                    """
                var ids: [SessionID] = []
                let rows = try Row.fetchCursor(database, sql: sql, arguments: [now] + columns.arguments)
                while let row = try rows.next() {
                    // A row that is not a valid session is skipped.
                    if let id = SessionID(row[0] as String), !ended.contains(id) { ids.append(id) }
                }
                return ids
            }
        }
    }

    /// Returns sessions of sign-ins with the sessions that were handed over from them.
    ///
    /// - Parameters:
    ///   - ids: The IDs of at most ``listedSessionsBatch`` sessions.
    ///   - now: The time in seconds since 1970. Sessions that have expired are left out.
    /// - Returns: The sessions that still exist, in the order of the IDs.
    /// - Throws: ``SessionStoreError`` when the store cannot be read.
    package func listedSessions(_ ids: [SessionID], at now: Int) async throws(SessionStoreError) -> [ListedSession] {
        try await withSessionErrors { store in
            let ended = try await store.endedSessions?.read() ?? []
            return try await store.read { database in
                let own = try database.cachedStatement(
                    sql: "SELECT * FROM sessions WHERE id = ? AND min(idle_end, absolute_end) > ?"
                )
                let children = try database.cachedStatement(
                    sql: "SELECT * FROM sessions WHERE parent = ? AND min(idle_end, absolute_end) > ? ORDER BY host, id"
                )
                func sessions(_ statement: Statement, _ id: SessionID) throws -> [SessionRecord] {
                    try Row.fetchAll(statement, arguments: [id.description, now]).compactMap { row in
                        try Self.session(row, groups: [], attributes: [])
                    }.filter { !ended.contains($0.id) }
                }
                return try ids.compactMap { id in
                    guard let session = try sessions(own, id).first else { return nil }
                    return ListedSession(session: session, children: try sessions(children, id))
                }
            }
        }
    }
}
