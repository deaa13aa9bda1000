// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import GRDB
internal import OpenSSLKit
internal import RealmKit
internal import Sessions

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
                id, data(session.token.bytes), session.user.realm, session.user.username.text, session.host.name,
                session.parent?.description, session.client.address, session.client.userAgent, session.created,
                session.lastSeen, session.idleExpiry,
                session.absoluteExpiry, session.stamp.map { data($0.salt) },
                session.stamp.map { data($0.digest.bytes) },
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

    /// Reads the attributes of all sessions, by the ID of the session.
    ///
    /// An attribute that is not valid is skipped.
    static func attributes(in database: Database) throws -> [String: [UserAttribute]] {
        var rows: [String: [(name: String, values: [String])]] = [:]
        let values = try Row.fetchCursor(
            database,
            sql: "SELECT id, name, value FROM session_attributes ORDER BY id, place"
        )
        while let row = try values.next() {
            var list = rows[row[0], default: []]
            let name: String = row[1]
            if let last = list.indices.last, list[last].name.utf8.elementsEqual(name.utf8) {
                list[last].values.append(row[2])
            } else {
                list.append((name, [row[2]]))
            }
            rows[row[0]] = list
        }
        return rows.mapValues { list in
            list.compactMap { name, values in
                do throws(BadAttribute) { return try UserAttribute(name: name, values: values) } catch { return nil }
            }
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

    static func name(_ row: Row) -> Username? {
        do throws(BadUsername) { return try Username(row["name"]) } catch { return nil }
    }

    static func data(_ bytes: [UInt8]) -> Data { Data(bytes) }

    private static func digest(_ data: Data) -> Digest? { Digest(bytes: Array(data)) }
}
