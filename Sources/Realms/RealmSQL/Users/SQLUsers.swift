// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLKit
internal import RealmKit
internal import ServerConnections
internal import Synchronization
internal import Workers

/// Finds users in a database, and replaces their hashes.
final class SQLUsers: Sendable {
    let queries: SQLQueries
    let replaced = ReplacedHashes()
    private let readers: ServerPool<SQLConnection>
    private let writers: ServerPool<SQLConnection>

    init(_ servers: SQLServers, settings: SQLSettings, log: RealmLog?, realmName: String) {
        queries = settings.queries
        readers = ServerPool(servers.readers, settings: settings.pool, log: log, realmName: realmName)
        // A standby server refuses changes as long as it is one, which is no event for the log.
        writers = ServerPool(servers.writers, settings: settings.pool, log: nil, realmName: realmName)
    }

    /// Finds a user with all queries; those without a login (`isLogin`) are not held up by the waiting logins of the user.
    func find(
        _ user: Username,
        source: String,
        isLogin: Bool = true,
        note: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws(ServerFault) -> FoundUser {
        let owner = JobOwner(source: source, account: isLogin ? user.caseFolded : nil)
        let finding = { @Sendable [queries] (connection: SQLConnection, call: ServerCall) throws(ServerFault) in
            try queries.find(user, on: connection, call: call)
        }
        let found = try await readers.run(for: owner, note: note, finding)
        guard try replaced.contains(found.account) else { return found }
        // The server has an older state than this process has written.
        let server = found.notes.first ?? ""
        note("\(server): the server has not received the new password yet; the primary server is asked")
        let before = replaced.lastNumber
        let current = try await writers.run(for: owner, note: note, finding)
        if let account = current.account, let stored = account.stored, try replaced.contains(account) {
            // A change that was recorded since may be newer than what the server has returned.
            try replaced.remove(stored, of: account.name, recordedUntil: before)
        }
        return current
    }

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
        /// The numbers of the records.
        var digests: [Digest: UInt64] = [:]
        var order: [Digest] = []
        var lastNumber: UInt64 = 0
    }

    private let state = Mutex(State())

    /// The number of the last record.
    var lastNumber: UInt64 { state.withLock { $0.lastNumber } }

    /// Records that the hash of a user was replaced; the name is that of the database.
    func add(_ stored: String, of user: String) throws(ServerFault) {
        let digest = try Self.digest(stored, of: user)
        state.withLock { state in
            state.lastNumber += 1
            let isKnown = state.digests.updateValue(state.lastNumber, forKey: digest) != nil
            if isKnown { state.order.removeAll { $0 == digest } }
            state.order.append(digest)
            if state.order.count > Self.maximum { state.digests[state.order.removeFirst()] = nil }
        }
    }

    func contains(_ account: SQLAccount?) throws(ServerFault) -> Bool {
        guard let account, let stored = account.stored else { return false }
        return try contains(stored, of: account.name)
    }

    func contains(_ stored: String, of user: String) throws(ServerFault) -> Bool {
        guard state.withLock({ !$0.digests.isEmpty }) else { return false }
        let digest = try Self.digest(stored, of: user)
        return state.withLock { $0.digests[digest] != nil }
    }

    /// Forgets a hash that was recorded up to a number, because the primary server has it again, or still.
    func remove(_ stored: String, of user: String, recordedUntil last: UInt64) throws(ServerFault) {
        let digest = try Self.digest(stored, of: user)
        state.withLock { state in
            guard let number = state.digests[digest], number <= last else { return }
            state.digests[digest] = nil
            state.order.removeAll { $0 == digest }
        }
    }

    private static func digest(_ stored: String, of user: String) throws(ServerFault) -> Digest {
        try Result { () throws(OpenSSLError) in try Digest.sha256(fields: [user, stored]) }
            .mapError { ServerFault(.failed, "\($0)") }.get()
    }
}
