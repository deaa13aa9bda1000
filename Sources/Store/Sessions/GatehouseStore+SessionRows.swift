// SPDX-License-Identifier: Apache-2.0
// Gatehouse

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
                    (id, token, realm, name, host, address, agent, created, last_seen, idle_end, absolute_end, stamp_salt, stamp)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                id, data(session.token.bytes), session.user.realm, session.user.username.text, session.host.name,
                session.client.address, session.client.userAgent, session.created, session.lastSeen, session.idleExpiry,
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
    }

    static func session(_ row: Row, groups: [String]) throws -> SessionRecord? {
        guard let id = SessionID(row["id"] as String), let token = digest(row["token"]), let name = name(row),
            let host = SessionHost(row["host"] as String)
        else { return nil }
        var stamp: SaltedStamp?
        if let salt = row["stamp_salt"] as Data?, let kept = row["stamp"] as Data? {
            guard let digest = digest(kept) else { return nil }
            stamp = SaltedStamp(salt: Array(salt), digest: digest)
        }
        return SessionRecord(
            id,
            token: token,
            user: SignedInUser(realm: row["realm"], username: name, groups: groups),
            host: host,
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
