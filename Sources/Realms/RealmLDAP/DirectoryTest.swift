// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Bytes
internal import Glibc
internal import RealmKit
internal import ServerConnections
internal import Workers

/// The test of the servers for `TestableRealm`.
extension Directory {
    /// Connects to each server, and looks a user up.
    func test(_ typed: TypedName?, report: @escaping @Sendable (BackEndStep) -> Void) async {
        await ServerTest.run(settings.servers, report: report) { [self] server in
            test(server, typed: typed, report: report)
        }
    }

    /// Runs on a thread that may block.
    private func test(_ server: LDAPServerURL, typed: TypedName?, report: @escaping @Sendable (BackEndStep) -> Void) {
        let call = ServerCall(until: MonotonicTime.now &+ pool.settings.timeout.nanoseconds)
        let steps = DirectorySteps(server: server.text) { report(BackEndStep($0)) }
        do throws(ServerFault) {
            let connection = try steps.measure(
                "connection and bind for searches",
                try LDAPConnection(server, settings: settings, call: call)
            ) { _ in settings.serviceBind.name }
            defer { connection.close() }
            let login = DirectoryLogin(
                directory: self,
                connection: connection,
                steps: steps,
                cache: GroupCache(.zero)
            )
            try login.test(typed, report: report)
        } catch {
            report(BackEndStep("\(server.text): \(error.log)", isFailure: true))
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
        _ = try steps.measure("root entry", try connection.abilities()) { abilities in
            abilities.isActiveDirectory
                ? "Active Directory" : "password change by RFC 3062: \(abilities.changesPasswords ? "yes" : "no")"
        }
        for base in [settings.base, settings.groups.base] where typed == nil {
            let search = LDAPSearch.entry(base, attributes: [])
            // The account may read the entries below without reading the base.
            _ = try steps.measure("entry \(base)", try connection.search(search)) { found in
                found.isEmpty ? "not found, or this account has no right to read it" : "found"
            }
        }
        guard let typed else { return }
        guard let user = try find(typed, attributes: settings.recordAttributes) else {
            report(BackEndStep("\(steps.server): there is no user \(typed.full)", isFailure: true))
            return
        }
        let found = try groups(of: user)
        let names = found.isEmpty ? "none" : GroupName.list(found)
        report(BackEndStep("\(steps.server): user \(user.username), groups: \(names)"))
        let record = user.record(groups: found)
        var problems = record.isEnabled ? [] : ["the account is disabled"]
        if user.isLocked { problems.append("the directory has locked the account") }
        if let expiry = record.expiry, expiry <= time(nil) { problems.append("the account has expired") }
        if record.mustChangePassword { problems.append("the password must be changed") }
        for problem in problems { report(BackEndStep("\(steps.server): \(user.name): \(problem)", isFailure: true)) }
        report(BackEndStep("\(steps.server): a login binds as \(user.name) with the password of the user"))
    }
}
#endif
