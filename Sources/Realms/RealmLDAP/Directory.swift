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
    private let renew: @Sendable ([DirectoryGroup]) -> Void
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
        renew = Self.renewal(pool, cache: cache)
    }

    func authenticate(
        _ typed: TypedName,
        password: Secret,
        isLocked: Bool,
        source: String,
        note: @escaping @Sendable (String) -> Void
    ) async throws(LoginFault) -> DirectoryAnswer {
        try await run(for: typed, source: source, note: note) { login throws(ServerFault) in
            try login.authenticate(typed, password: password, isLocked: isLocked)
        }
    }

    func change(
        _ typed: TypedName,
        passwords: (old: Secret, new: Secret),
        change: BindProblem.PasswordChange,
        source: String,
        note: @escaping @Sendable (String) -> Void
    ) async throws(LoginFault) -> DirectoryAnswer {
        try await run(for: typed, source: source, isRepeatable: false, note: note) { login throws(ServerFault) in
            try login.change(typed, from: passwords.old, to: passwords.new, change: change)
        }
    }

    private func run<Value: Sendable>(
        for typed: TypedName?,
        source: String,
        isRepeatable: Bool = true,
        note: @escaping @Sendable (String) -> Void,
        _ body: @escaping @Sendable (DirectoryLogin) throws(ServerFault) -> Value
    ) async throws(LoginFault) -> Value {
        do throws(ServerFault) {
            let owner = JobOwner(source: source, account: typed.map { aliases.account(of: $0) })
            return try await pool.run(for: owner, isRepeatable: isRepeatable, note: note) {
                [cache, bindTimes, renew, outages, aliases] connection, call throws(ServerFault) in
                connection.beginLogin()
                let steps = DirectorySteps(server: connection.url.text, note: note)
                let login = DirectoryLogin(
                    connection: connection,
                    call: call,
                    cache: cache,
                    bindTimes: bindTimes,
                    steps: steps,
                    renew: renew,
                    report: { outages.write($0, kind: "entry") },
                    aliases: aliases
                )
                return try body(login)
            }
        } catch {
            // Faults of servers are in the log already, each with its server.
            if error.code == .failed || error.code == .full { outages.write(error.log, kind: error.code.rawValue) }
            throw error.loginFault
        }
    }

    /// Returns a function that begins to read the groups that contain groups again, unless that is being done; no login
    /// waits for it.
    private static func renewal(
        _ pool: ServerPool<LDAPConnection>,
        cache: GroupCache
    ) -> @Sendable ([DirectoryGroup]) -> Void {
        { groups in
            guard cache.beginRenewal() else { return }
            Task.detached {
                var hasFailed = false
                do throws(ServerFault) {
                    let owner = JobOwner(source: "groups", account: nil)
                    try await pool.run(for: owner) { connection, call throws(ServerFault) in
                        connection.beginLogin()
                        let steps = DirectorySteps(server: connection.url.text) { _ in }
                        let search = GroupSearch(connection: connection, call: call, cache: cache, steps: steps)
                        try search.readAgain(groups)
                    }
                } catch {
                    // Faults of servers are in the log; a login will find the others.
                    hasFailed = true
                }
                cache.endRenewal(hasFailed: hasFailed)
            }
        }
    }

    // MARK: Without a password

    /// Finds a user and the groups; nil if there is no such user.
    func user(_ typed: TypedName) async throws(RealmError) -> UserRecord? {
        guard case .search(let filter, let scope) = settings.location else { throw Self.noSearch }
        return try await query(for: typed) { [settings] login throws(ServerFault) in
            let attributes = settings.recordAttributes
            guard let user = try login.find(typed, filter: filter, scope: scope, attributes: attributes) else {
                return nil
            }
            return user.record(groups: try login.groups(of: user))
        }
    }

    /// Returns all users without their groups, in the order of the directory.
    func users() async throws(RealmError) -> [UserRecord] {
        guard case .search(let filter, let scope) = settings.location else { throw Self.noSearch }
        let attributes = settings.recordAttributes
        let search = LDAPSearch(base: settings.base, scope: scope, filter: filter.filterForAll, attributes: attributes)
        return try await query { [settings] login throws(ServerFault) in
            var users: [UserRecord] = []
            try login.connection.searchAll(search, call: login.call) { entries throws(ServerFault) in
                // A list has no maximum; a page has.
                login.connection.beginLogin()
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
            for name in names { found += try login.groupSearch.existing(name) }
            return found
        }
    }

    private static let noSearch = RealmError.invalidOperation(
        "the realm has no account for searches: users bind directly (user-dn-pattern)"
    )

    /// Runs a call that is no login.
    private func query<Value: Sendable>(
        for typed: TypedName? = nil,
        _ body: @escaping @Sendable (DirectoryLogin) throws(ServerFault) -> Value
    ) async throws(RealmError) -> Value {
        do throws(LoginFault) {
            return try await run(for: typed, source: ClientNetwork.source(nil), note: { _ in }, body)
        } catch {
            throw .temporary(error)
        }
    }
}
#endif
