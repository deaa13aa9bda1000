// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import OpenSSLKit
internal import RealmKit
internal import ServerConnections
internal import Synchronization
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

/// Finds users in a database, and replaces their hashes.
final class SQLUsers: Sendable {
    let queries: SQLQueries
    let replaced = ReplacedHashes()
    private let isCaseSensitive: Bool
    private let readers: ServerPool<SQLConnection>
    private let writers: ServerPool<SQLConnection>

    init(_ servers: SQLServers, settings: SQLSettings, log: RealmLog?, realmName: String) {
        queries = settings.queries
        isCaseSensitive = settings.isCaseSensitive
        readers = ServerPool(servers.readers, settings: settings.pool, log: log, realmName: realmName)
        // A standby server refuses changes as long as it is one, which is no event for the log.
        writers = ServerPool(servers.writers, settings: settings.pool, log: nil, realmName: realmName)
    }

    // MARK: Reading

    /// Finds a user with all queries; those without a login (`isLogin`) are not held up by the waiting logins of the user.
    func find(
        _ user: Username,
        source: String,
        isLogin: Bool = true,
        note: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws(ServerFault) -> FoundUser {
        let owner = JobOwner(source: source, account: isLogin ? user.caseFolded : nil)
        let found = try await readers.run(for: owner, note: note, finding(user))
        guard try replaced.contains(found.account) else { return found }
        // The server has an older state than this process has written.
        let server = found.notes.first ?? ""
        note("\(server): the server has not received the new password yet; the primary server is asked")
        let current = try await writers.run(for: owner, note: note, finding(user))
        if let account = current.account, let stored = account.stored, try replaced.contains(account) {
            try replaced.remove(stored, of: account.name)
        }
        return current
    }

    /// Returns the function that finds a user on a connection.
    func finding(_ user: Username) -> @Sendable (SQLConnection, ServerCall) throws(ServerFault) -> FoundUser {
        { [queries, isCaseSensitive] (connection, call) throws(ServerFault) in
            try Self.find(user, queries: queries, isCaseSensitive: isCaseSensitive, connection: connection, call: call)
        }
    }

    /// Runs all queries of a login, whatever the first ones find, so that their number does not reveal which users exist.
    private static func find(
        _ user: Username,
        queries: SQLQueries,
        isCaseSensitive: Bool,
        connection: SQLConnection,
        call: ServerCall
    ) throws(ServerFault) -> FoundUser {
        var values = try SQLValues(user: user.text)
        var found = FoundUser()
        found.notes.append(connection.server)
        var state: SQLRows?
        var passwordColumns: [String] = []
        let all = queries.ofLogin
        // If there is only one spelling, no query depends on the answer of another one.
        let first = isCaseSensitive ? all : [queries.password]
        var answers = try connection.database.run(first, values: values, call: call)
        for (place, query) in all.enumerated() {
            if place == answers.count {
                answers += try connection.database.run(Array(all[place...]), values: values, call: call)
            }
            let rows = answers[place]
            found.notes.append(note(query, rows: rows))
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
                    rows.rows[number][name].map { isSame($0, as: user, isCaseSensitive: isCaseSensitive) } ?? false
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
                state = rows
            case .groups:
                guard rows.rows.count <= queries.maximumGroups else {
                    found.problem = ServerFault.tooManyGroups(maximum: queries.maximumGroups).log
                    continue
                }
                found.groups = try groups(rows, query: query, notes: &found.notes)
            case .attributes: found.attributes = attributes(rows, notes: &found.notes)
            case .updatePassword, .list: break
            }
        }
        if let query = queries.state {
            if let state, let row = state.rows.first {
                for (place, column) in state.columns.enumerated() where state.unreadable[0]?.contains(place) != true {
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
    private static func isSame(_ name: String, as user: Username, isCaseSensitive: Bool) -> Bool {
        if name.hasBytes(of: user.text) { return true }
        guard !isCaseSensitive else { return false }
        return (try? Username(name))?.caseFolded.hasBytes(of: user.caseFolded) == true
    }

    private static func note(_ query: SQLQuery, rows: SQLRows) -> String {
        let reason = rows.isIncomparable ? "; the database cannot compare the name with its column" : ""
        return "\(query.name.rawValue): \(MonotonicTime.text(rows.time)), rows: \(rows.rows.count)\(reason)"
    }

    // MARK: Groups and attributes

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

    // MARK: All users

    /// Returns all users, without groups and attributes.
    func list(_ query: SQLQuery) async throws(ServerFault) -> [SQLAccount] {
        try await readers.run(for: JobOwner(source: "list", account: nil)) { (connection, call) throws(ServerFault) in
            let rows = try connection.database.run(query, values: try SQLValues(), call: call)
            try rows.checkReadable()
            try SQLAccount.check(rows.columns, query: query)
            var accounts: [SQLAccount] = []
            accounts.reserveCapacity(rows.rows.count)
            // The check has found the column. A row without a name is no user.
            let name = rows.columns.firstIndex(of: "username") ?? 0
            for number in rows.rows.indices where rows.rows[number][name] != nil {
                let account = try SQLAccount(number, of: rows, query: query)
                if let problem = account.state.problem {
                    throw ServerFault(.failed, "\(problem); user \(account.name)")
                }
                accounts.append(account)
            }
            return accounts
        }
    }

    // MARK: Changes

    /// Replaces a hash, if it is still the stored one, and returns the number of changed rows.
    func replace(
        _ old: String,
        by new: String,
        of user: String,
        with query: SQLQuery,
        for owner: JobOwner
    ) async throws(ServerFault) -> Int {
        let values = try SQLValues(user: user, passwordHash: new, oldHash: old)
        // The server may have made the change although its answer was lost.
        return try await writers.run(for: owner, isRepeatable: false) { (connection, call) throws(ServerFault) in
            try connection.database.run(query, values: values, call: call).changed
        }
    }
}

/// The hashes that this process has replaced by those of new passwords.
///
/// If a server returns one of them, it is a replica that has not received the change yet, and the primary server is asked
/// instead. Otherwise the old password would be accepted again.
final class ReplacedHashes: Sendable {
    /// The maximum number of hashes; the oldest are forgotten first.
    private static let maximum = 10_000

    private struct State {
        var digests: Set<Digest> = []
        var order: [Digest] = []
    }

    private let state = Mutex(State())

    /// Records that the hash of a user was replaced; the name is that of the database.
    func add(_ stored: String, of user: String) throws(ServerFault) {
        let digest = try Self.digest(stored, of: user)
        state.withLock { state in
            if !state.digests.insert(digest).inserted { state.order.removeAll { $0 == digest } }
            state.order.append(digest)
            if state.order.count > Self.maximum { state.digests.remove(state.order.removeFirst()) }
        }
    }

    func contains(_ account: SQLAccount?) throws(ServerFault) -> Bool {
        guard let account, let stored = account.stored, state.withLock({ !$0.digests.isEmpty }) else { return false }
        let digest = try Self.digest(stored, of: account.name)
        return state.withLock { $0.digests.contains(digest) }
    }

    /// Forgets a hash, because the primary server has it again.
    func remove(_ stored: String, of user: String) throws(ServerFault) {
        let digest = try Self.digest(stored, of: user)
        state.withLock { state in
            if state.digests.remove(digest) != nil { state.order.removeAll { $0 == digest } }
        }
    }

    private static func digest(_ stored: String, of user: String) throws(ServerFault) -> Digest {
        try Result { () throws(OpenSSLError) in try Digest.sha256(fields: [user, stored]) }
            .mapError { ServerFault(.failed, "\($0)") }.get()
    }
}
