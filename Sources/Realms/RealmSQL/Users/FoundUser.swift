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
        var stateRows: SQLRows?
        var passwordColumns: [String] = []
        let all = ofLogin
        // If there is only one spelling, no query depends on the answer of another one.
        let first = isCaseSensitive ? all : [password]
        var answers = try connection.database.run(first, values: values, call: call)
        for (place, query) in all.enumerated() {
            if place == answers.count {
                answers += try connection.database.run(Array(all[place...]), values: values, call: call)
            }
            let rows = answers[place]
            let reason = rows.isIncomparable ? "; the database cannot compare the name with its column" : ""
            let time = MonotonicTime.text(rows.time)
            found.notes.append("\(query.name.rawValue): \(time), rows: \(rows.rows.count)\(reason)")
            // Of the rows with passwords, only that of the user counts.
            if let problem = rows.problem, query.name != .password {
                found.problem = problem
                // The state is read as far as it can be.
                guard query.name == .state, !rows.rows.isEmpty else { continue }
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
                try SQLAccount.check(rows.columns, query: query)
                passwordColumns = rows.columns
                // The check has found the column.
                let name = rows.columns.firstIndex(of: "username") ?? 0
                // A query that compares another column, too, finds users who have written the name of this one there.
                let own = rows.rows.indices.filter { number in
                    rows.rows[number][name].map { isSame($0, as: user) } ?? false
                }
                found.isAmbiguous = own.count > 1
                if let number = own.first {
                    let account = try SQLAccount(number, of: rows, query: query)
                    found.account = account
                    if rows.unreadable[number] != nil { found.problem = rows.problem }
                    // The groups must not depend on the spelling that was typed.
                    values = try SQLValues(user: account.name)
                } else if !rows.rows.isEmpty {
                    found.notes.append("the database has found another spelling of the name")
                    // A name that cannot be read may be that of the user.
                    if rows.unreadable.values.contains(where: { $0.contains(name) }) { found.problem = rows.problem }
                }
            case .state:
                try SQLAccount.check(rows.columns, query: query)
                try SQLAccount.checkApart(rows.columns, from: passwordColumns, query: query)
                if rows.rows.count > 1 { found.isAmbiguous = true }
                stateRows = rows
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
        if let query = state {
            if let rows = stateRows, let row = rows.rows.first {
                for (place, column) in rows.columns.enumerated() where rows.unreadable[0]?.contains(place) != true {
                    try found.account?.state.set(column, to: row[place], query: query)
                }
            } else if found.account != nil, found.problem == nil {
                found.notes.append("state-query has found no row, so the account counts as disabled")
                found.account?.state.isEnabled = false
            }
        }
        if let problem = found.account?.state.problem { found.problem = problem }
        if found.isAmbiguous { found.account = nil }
        return found
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
