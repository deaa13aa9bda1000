// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Bytes
internal import Glibc
public import RealmKit
internal import ServerConnections
internal import Workers

extension LDAPRealm: UserListingRealm {
    /// Returns the groups of a user.
    public func groupNames(of user: Username) async throws(RealmError) -> [String] { try await find(user).groups }

    /// Returns the attributes of a user.
    public func attributes(of user: Username) async throws(RealmError) -> [UserAttribute] {
        try await find(user).attributes
    }

    private func find(_ user: Username) async throws(RealmError) -> UserRecord {
        guard let found = try await self.user(user) else { throw .noSuchUser(user) }
        return found
    }

    /// Returns a user with the groups.
    public func user(_ name: Username) async throws(RealmError) -> UserRecord? {
        guard let typed = typedName(name) else { return nil }
        try requireSearch()
        return try await search(for: typed) { login throws(ServerFault) in
            guard let user = try login.find(typed, attributes: login.settings.recordAttributes) else { return nil }
            return user.record(groups: try login.groups(of: user))
        }
    }

    /// Returns all users in the order of the directory, without their groups.
    public func users() async throws(RealmError) -> [UserRecord] {
        try requireSearch()
        return try await search { login throws(ServerFault) in
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

    private static let noSearch = RealmError.invalidOperation(
        "the realm has no account for searches: users bind directly (user-dn-pattern)"
    )

    private func requireSearch() throws(RealmError) {
        if case .directBind = settings.location { throw Self.noSearch }
    }

    /// Runs searches without a user's password.
    private func search<Value: Sendable>(
        for typed: TypedName? = nil,
        _ body: @escaping @Sendable (DirectoryLogin) throws(ServerFault) -> Value
    ) async throws(RealmError) -> Value {
        do throws(LoginFault) {
            return try await run(for: typed, nil, body)
        } catch {
            throw .temporary(error)
        }
    }
}

extension LDAPRealm: GroupLookupRealm {
    /// Returns the canonical form of a distinguished name if `group-names` is `dn`, and otherwise the name.
    public func groupName(_ name: String) throws(BadValue) -> String {
        guard settings.groups.usesDistinguishedNames else { return name }
        guard let key = DistinguishedName(name)?.key, GroupName.isUsable(key) else {
            throw BadValue("is no distinguished name such as cn=staff,ou=groups,dc=example,dc=org (group-names dn)")
        }
        return key
    }

    /// Returns the groups that the directory finds for names of groups.
    public func existingGroups(_ names: [String]) async throws(RealmError) -> [String] {
        guard !settings.searchesAsUser else { throw Self.noSearch }
        guard settings.groups.dynamic == nil else {
            throw .invalidOperation("the server computes the names of groups (dynamic-group-search-filter)")
        }
        guard settings.groups.source != .none else { return [] }
        return try await search { login throws(ServerFault) in
            var found: [String] = []
            for name in names { found += try login.existingGroups(name) }
            return found
        }
    }
}

extension LDAPRealm: TestableRealm {
    /// Connects to each server, binds for searches there, and looks the user up; nothing is sent with a user's password.
    public func testBackEnd(user: Username?, report: @escaping @Sendable (BackEndStep) -> Void) async {
        let typed = user.flatMap { typedName($0) }
        if let user, typed == nil {
            report(BackEndStep("\(user): the domain is none of the realm's domains", isFailure: true))
            return
        }
        await ServerTest.run(settings.servers, report: report) { [self] server in
            test(server, typed: typed, report: report)
        }
    }

    /// Runs on a thread that may block.
    private func test(_ server: LDAPServerURL, typed: TypedName?, report: @escaping @Sendable (BackEndStep) -> Void) {
        let start = MonotonicTime.now
        let call = ServerCall(until: start &+ pool.settings.timeout.nanoseconds)
        var step = "connection and bind for searches"
        do throws(ServerFault) {
            let connection = try LDAPConnection(server, settings: settings, call: call)
            defer { connection.close() }
            // No groups of another server count.
            let cache = GroupCache(.zero)
            let login = DirectoryLogin(realm: self, connection: connection, cache: cache) { report(BackEndStep($0)) }
            login.note(step, result: settings.serviceBind.name, since: start)
            step = ""
            try login.test(typed, report: report)
        } catch {
            let texts = [server.text, step, error.log].filter { !$0.isEmpty }
            report(BackEndStep(texts.joined(separator: ": "), isFailure: true))
        }
    }
}

extension DirectoryLogin {
    /// Reads the root entry and the bases, and looks a user up.
    fileprivate func test(_ typed: TypedName?, report: (BackEndStep) -> Void) throws(ServerFault) {
        if case .directBind(let pattern, _) = settings.location {
            guard let typed else { return }
            let name = pattern.bindName(typed.user)
            let text = name.map { "a login binds as \($0); only the password shows whether there is this user" }
            report(BackEndStep(text ?? DNPattern.unusableName, isFailure: name == nil))
            return
        }
        _ = try measure("root entry", try connection.abilities()) { abilities in
            abilities.isActiveDirectory
                ? "Active Directory" : "password change by RFC 3062: \(abilities.changesPasswords ? "yes" : "no")"
        }
        for base in [settings.base, settings.groups.base] where typed == nil {
            let search = LDAPSearch.entry(base, attributes: [])
            // The account may read the entries below without reading the base.
            _ = try measure("entry \(base)", try connection.search(search)) { found in
                found.isEmpty ? "not found, or this account has no right to read it" : "found"
            }
        }
        guard let typed else { return }
        guard let user = try find(typed, attributes: settings.recordAttributes) else {
            report(BackEndStep("\(server): there is no user \(typed.full)", isFailure: true))
            return
        }
        let found = try groups(of: user)
        let names = found.isEmpty ? "none" : GroupName.list(found)
        report(BackEndStep("\(server): user \(user.username), groups: \(names)"))
        let record = user.record(groups: found)
        var problems = record.isEnabled ? [] : ["the account is disabled"]
        if user.isLocked { problems.append("the directory has locked the account") }
        if let expiry = record.expiry, expiry <= time(nil) { problems.append("the account has expired") }
        if record.mustChangePassword { problems.append("the password must be changed") }
        for problem in problems { report(BackEndStep("\(server): \(user.name): \(problem)", isFailure: true)) }
        report(BackEndStep("\(server): a login binds as \(user.name) with the password of the user"))
    }
}
#endif
