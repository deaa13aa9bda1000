// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import GRDB
public import RealmKit

/// Names whose case is ignored.
///
/// The column `folded` has the case-folded name; NULL if that is the name itself.
extension GatehouseStore {
    /// Returns the stored name of a user whose name is given in any case.
    ///
    /// - Parameters:
    ///   - user: The name in any case.
    ///   - realm: The realm.
    /// - Returns: The stored name; nil if there is no such user.
    /// - Throws: ``StoreFault`` with code `unavailable`, also if two users differ in case only: none is preferred.
    public func spelling(of user: Username, in realm: String) async throws(StoreFault) -> Username? {
        let names = try await read { try Self.spellings(of: user, in: realm, database: $0) }
        guard names.count < 2 else {
            let list = names.map(\.text).joined(separator: " and ")
            throw StoreFault(.unavailable, "there are users whose names differ in case only: \(list)")
        }
        return names.first
    }

    /// Returns the stored names that have the same case-folded name, at most two.
    static func spellings(of user: Username, in realm: String, database: Database) throws -> [Username] {
        try String.fetchAll(
            try database.cachedStatement(
                sql: """
                    SELECT name FROM users WHERE realm = :realm AND name = :folded AND folded IS NULL
                    UNION ALL SELECT name FROM users WHERE realm = :realm AND folded = :folded LIMIT 2
                    """
            ),
            arguments: ["realm": realm, "folded": user.caseFolded]
        ).map { try Username($0) }
    }

    /// Returns names of users that differ in case only; it blocks the thread.
    ///
    /// - Parameter realm: The realm.
    /// - Returns: Pairs of names, at most five; none if the case of names can be ignored.
    /// - Throws: ``StoreFault`` with code `unavailable`.
    public func namesDifferingInCase(in realm: String) throws(StoreFault) -> [[String]] {
        try readBlocking { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT one.name, other.name FROM users AS one JOIN users AS other
                    ON other.realm = one.realm AND other.folded = one.folded AND other.name > one.name
                    WHERE one.realm = :realm AND one.folded IS NOT NULL
                    UNION ALL
                    SELECT one.name, other.name FROM users AS one JOIN users AS other
                    ON other.realm = one.realm AND other.name = one.folded AND other.folded IS NULL
                    WHERE one.realm = :realm AND one.folded IS NOT NULL LIMIT 5
                    """,
                arguments: ["realm": realm]
            ).map { [$0[0], $0[1]] }
        }
    }

    /// Returns the value of the column `folded`.
    static func folded(_ name: Username) -> String? {
        let folded = name.caseFolded
        return folded.hasBytes(of: name.text) ? nil : folded
    }
}
