// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import RealmKit
internal import ServerConnections
internal import Workers

/// A user with the groups and the attributes, as the queries have found them.
struct FoundUser: Sendable {
    /// The account; nil if there is no such user, or several.
    var account: SQLAccount?
    var groups: [String] = []
    var attributes: [UserAttribute] = []
    /// True if a query has found several rows for the user.
    var isAmbiguous = false
    /// The reason why a login of this user cannot be decided; nil if it can.
    ///
    /// A login fails with it after the password was checked, because it would reveal that the user exists.
    var problem: String?
    /// Texts for the administrator: the server, the queries, their times and their rows.
    var notes: [String] = []
}

extension SQLQueries {
    /// Runs all queries of a login, whatever the first ones find, so that their number does not reveal which users exist.
    func find(_ user: Username, on connection: SQLConnection, call: ServerCall) throws(ServerFault) -> FoundUser {
        var values = try SQLValues(user: user.text)
        var found = FoundUser()
        found.notes.append(connection.server)
        var passwordColumns: [String] = []
        for query in ofLogin {
            let start = MonotonicTime.now
            let rows = try connection.database.run(query, values: values, call: call)
            let reason = rows.isIncomparable ? "; the database cannot compare the name with its column" : ""
            let time = MonotonicTime.text(since: start)
            found.notes.append("\(query.name.rawValue): \(time), rows: \(rows.rows.count)\(reason)")
            if rows.isTooLarge {
                // Without the password nothing can be decided; after another query the connection may be closed.
                if query.name == .password { try rows.checkReadable() }
                found.problem = rows.problem
                break
            }
            // Of the rows with passwords, only that of the user counts.
            if let problem = rows.problem, query.name != .password {
                found.problem = problem
                // The state is read as far as it can be.
                guard query.name == .state else { continue }
            }
            guard !rows.isIncomparable else {
                // The database cannot compare the name, so no row has it. If a row has it, another value is the reason.
                if found.account != nil {
                    found.problem = "\(query.name.rawValue): a value in the database cannot be converted"
                }
                continue
            }
            switch query.name {
            case .password:
                passwordColumns = rows.columns
                try findAccount(in: rows, query: query, of: user, found: &found)
                // The groups must not depend on the spelling that was typed.
                if let account = found.account { values = try SQLValues(user: account.name) }
            case .state:
                try SQLAccount.check(rows.columns, query: query, passwordColumns: passwordColumns)
                if rows.rows.count > 1 { found.isAmbiguous = true }
                if let row = rows.rows.first {
                    for (place, column) in rows.columns.enumerated() where rows.unreadable[0]?.contains(place) != true {
                        found.account?.state.set(column, to: row[place], query: query)
                    }
                } else if found.account != nil {
                    found.notes.append("state-query has found no row, so the account counts as disabled")
                    found.account?.state.isEnabled = false
                }
            case .groups:
                guard rows.rows.count <= maximumGroups else {
                    found.problem = ServerFault.tooManyGroups(maximum: maximumGroups).log
                    continue
                }
                found.groups = try Self.groups(rows, query: query, notes: &found.notes)
            case .attributes: found.attributes = Self.attributes(rows, notes: &found.notes)
            case .updatePassword, .list: break
            }
        }
        if let problem = found.account?.state.problem { found.problem = problem }
        if found.isAmbiguous { found.account = nil }
        return found
    }

    /// Finds the row of the user: a query that compares another column, too, finds users who have written the name of this
    /// one there.
    private func findAccount(
        in rows: SQLRows,
        query: SQLQuery,
        of user: Username,
        found: inout FoundUser
    ) throws(ServerFault) {
        try SQLAccount.check(rows.columns, query: query)
        // The check has found the column.
        let name = rows.columns.firstIndex(of: "username") ?? 0
        let own = rows.rows.indices.filter { rows.rows[$0][name].map { isSame($0, as: user) } ?? false }
        found.isAmbiguous = own.count > 1
        if let number = own.first {
            found.account = try SQLAccount(number, of: rows, query: query)
            if rows.unreadable[number] != nil { found.problem = rows.problem }
        } else if !rows.rows.isEmpty {
            found.notes.append("the database has found another spelling of the name")
            // A name that cannot be read may be that of the user.
            if rows.unreadable.values.contains(where: { $0.contains(name) }) { found.problem = rows.problem }
        }
    }

    /// Returns whether a name of the database is the typed one; another spelling must have the same
    /// `Realm.accountKey(of:)`.
    private func isSame(_ name: String, as user: Username) -> Bool {
        if name.hasBytes(of: user.text) { return true }
        guard !isCaseSensitive else { return false }
        return (try? Username(name))?.caseFolded.hasBytes(of: user.caseFolded) == true
    }

    /// Throws unless the query for groups returns one column.
    static func checkGroups(_ rows: SQLRows, query: SQLQuery) throws(ServerFault) {
        guard rows.names.count == 1 else {
            throw ServerFault(.failed, "\(query.name.rawValue) returns \(rows.names.count) columns, and not one")
        }
    }

    private static func groups(
        _ rows: SQLRows,
        query: SQLQuery,
        notes: inout [String]
    ) throws(ServerFault) -> [String] {
        try checkGroups(rows, query: query)
        var seen: Set<UTF8Text> = []
        var groups: [String] = []
        for value in rows.rows.compactMap(\.first) {
            guard let value else { continue }
            guard GroupName.isUsable(value) else {
                notes.append("a group is left out: its name is empty, too long, or contains control characters")
                continue
            }
            if seen.insert(UTF8Text(value)).inserted { groups.append(value) }
        }
        return groups
    }

    private static func attributes(_ rows: SQLRows, notes: inout [String]) -> [UserAttribute] {
        var attributes: [UserAttribute] = []
        for (place, name) in rows.names.enumerated() {
            var seen: Set<UTF8Text> = []
            var values: [String] = []
            for row in rows.rows {
                guard let value = row[place], !value.isEmpty else { continue }
                if seen.insert(UTF8Text(value)).inserted { values.append(value) }
            }
            guard !values.isEmpty else { continue }
            do throws(BadAttribute) {
                attributes.append(try UserAttribute(name: name, values: values))
            } catch {
                notes.append("an attribute is left out: \(error)")
            }
        }
        return attributes
    }
}
