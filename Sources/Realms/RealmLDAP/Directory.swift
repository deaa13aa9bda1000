// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Bytes
internal import RealmKit
internal import ServerConnections
internal import Workers

/// The servers of one realm's directory, and what is kept between logins.
final class Directory: Sendable {
    let settings: LDAPSettings
    let pool: ServerPool<LDAPConnection>
    let cache: GroupCache
    let bindTimes = BindTimes()
    let aliases = AccountAliases()
    private let outages: OutageLog

    init(_ properties: RealmProperties) throws(BadRealm) {
        let settings = try LDAPSettings(properties)
        self.settings = settings
        // What a user can read after a direct bind, another one may not.
        cache = GroupCache(settings.searchesAsUser ? .zero : settings.groups.cacheTime)
        let log = properties.services[RealmLog.self]
        outages = OutageLog(log, realmName: properties.realmName, now: { MonotonicTime.now })
        let servers = Servers(settings.servers.map(\.text)) { number, call throws(ServerFault) in
            try LDAPConnection(settings.servers[number], settings: settings, call: call)
        }
        let limits = try ServerPoolSettings(properties, connections: "pool-size")
        pool = ServerPool(servers, settings: limits, log: log, realmName: properties.realmName)
    }

    /// Runs a login, or another call, on a thread that may block; `note` receives its steps, on any thread.
    func run<Value: Sendable>(
        for typed: TypedName?,
        source: String,
        isRepeatable: Bool = true,
        note: @escaping @Sendable (String) -> Void = { _ in },
        _ body: @escaping @Sendable (DirectoryLogin) throws(ServerFault) -> Value
    ) async throws(LoginFault) -> Value {
        do throws(ServerFault) {
            let owner = JobOwner(source: source, account: typed.map { aliases.account(of: $0) })
            return try await login(for: owner, isRepeatable: isRepeatable, note: note, body)
        } catch {
            // Faults of servers are in the log already, each with its server.
            if error.code == .failed || error.code == .full { outages.write(error.log, kind: error.code.rawValue) }
            throw error.loginFault
        }
    }

    private func login<Value: Sendable>(
        for owner: JobOwner,
        isRepeatable: Bool = true,
        note: @escaping @Sendable (String) -> Void = { _ in },
        _ body: @escaping @Sendable (DirectoryLogin) throws(ServerFault) -> Value
    ) async throws(ServerFault) -> Value {
        try await pool.run(for: owner, isRepeatable: isRepeatable, note: note) {
            [self] connection, call throws(ServerFault) in
            connection.begin(call)
            return try body(
                DirectoryLogin(
                    directory: self,
                    connection: connection,
                    steps: DirectorySteps(server: connection.url.text, note: note),
                    cache: cache,
                    renew: renew
                )
            )
        }
    }

    /// Begins to read the groups that contain groups again, unless that is being done; no login waits for it.
    private func renew(_ groups: [DirectoryGroup]) {
        guard cache.beginRenewal() else { return }
        Task.detached { [self] in
            var hasFailed = false
            do throws(ServerFault) {
                try await login(for: JobOwner(source: "groups", account: nil)) { login throws(ServerFault) in
                    try login.readAgain(groups)
                }
            } catch {
                // Faults of servers are in the log; a login will find the others.
                hasFailed = true
            }
            cache.endRenewal(hasFailed: hasFailed)
        }
    }

    /// Logs the reason why an entry cannot sign in.
    func report(_ reason: String) { outages.write(reason, kind: "entry") }

    // MARK: Without a password

    /// Finds a user and the groups; nil if there is no such user.
    func user(_ typed: TypedName) async throws(RealmError) -> UserRecord? {
        try requireSearch()
        return try await query(for: typed) { login throws(ServerFault) in
            guard let user = try login.find(typed, attributes: login.settings.recordAttributes) else { return nil }
            return user.record(groups: try login.groups(of: user))
        }
    }

    /// Returns all users without their groups, in the order of the directory.
    func users() async throws(RealmError) -> [UserRecord] {
        try requireSearch()
        return try await query { login throws(ServerFault) in
            let (settings, connection) = (login.settings, login.connection)
            guard let (filter, scope) = settings.location.search else { return [] }
            let search = LDAPSearch(
                base: settings.base,
                scope: scope,
                filter: filter.filterForAll,
                attributes: settings.recordAttributes
            )
            var users: [UserRecord] = []
            try connection.searchAll(search) { entries throws(ServerFault) in
                // A list has no maximum; a page has.
                connection.begin(connection.call)
                // An entry without a usable name cannot sign in.
                users += entries.compactMap { (try? UserEntry($0, typed: nil, settings: settings))?.record(groups: []) }
            }
            return users
        }
    }

    /// Returns the groups that the directory finds for names of groups.
    func existingGroups(_ names: [String]) async throws(RealmError) -> [String] {
        guard !settings.searchesAsUser else { throw Self.noSearch }
        guard settings.groups.dynamic == nil else {
            throw .invalidOperation("the server computes the names of groups (dynamic-group-search-filter)")
        }
        guard settings.groups.source != .none else { return [] }
        return try await query { login throws(ServerFault) in
            var found: [String] = []
            for name in names { found += try login.existingGroups(name) }
            return found
        }
    }

    private static let noSearch = RealmError.invalidOperation(
        "the realm has no account for searches: users bind directly (user-dn-pattern)"
    )

    private func requireSearch() throws(RealmError) {
        if case .directBind = settings.location { throw Self.noSearch }
    }

    /// Runs a call that is no login.
    private func query<Value: Sendable>(
        for typed: TypedName? = nil,
        _ body: @escaping @Sendable (DirectoryLogin) throws(ServerFault) -> Value
    ) async throws(RealmError) -> Value {
        do throws(LoginFault) {
            return try await run(for: typed, source: ClientNetwork.source(nil), body)
        } catch {
            throw .temporary(error)
        }
    }
}

/// The steps of one login for the administrator: the server, the request, the result and the time of each.
struct DirectorySteps: Sendable {
    let server: String
    private let write: @Sendable (String) -> Void

    init(server: String, note: @escaping @Sendable (String) -> Void) { (self.server, write) = (server, note) }

    /// Makes a step and notes its result; a fault gets the request, which contains no secrets, into its text.
    func measure<Value>(
        _ request: String,
        _ body: @autoclosure () throws(ServerFault) -> Value,
        result: (Value) -> String
    ) throws(ServerFault) -> Value {
        let start = MonotonicTime.now
        do throws(ServerFault) {
            let value = try body()
            note(request, result: result(value), since: start)
            return value
        } catch {
            guard error.code != .failed else { throw error }
            throw ServerFault(error.code, "\(LDAPText.printable(request)): \(error.log)")
        }
    }

    /// Notes a step whose request, which contains no secrets, was sent at a time of `MonotonicTime`.
    func note(_ request: String, result: String, since start: UInt64) {
        note("\(LDAPText.printable(request)): \(result), \(MonotonicTime.text(since: start))")
    }

    func note(_ text: String) { write("\(server): \(text)") }
}
#endif
