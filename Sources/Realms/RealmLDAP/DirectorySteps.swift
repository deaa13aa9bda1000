// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Bytes
internal import Glibc
internal import RealmKit
internal import ServerConnections
internal import Workers

/// The steps of one login for the administrator: the server, the request, the result and the time of each.
struct DirectorySteps: Sendable {
    let server: String
    let note: @Sendable (String) -> Void

    /// Makes a step and notes its result; a fault gets the request, which contains no secrets, into its text.
    func measure(_ request: @autoclosure () -> String, _ body: () throws(ServerFault) -> String) throws(ServerFault) {
        let start = MonotonicTime.now
        do throws(ServerFault) {
            let result = try body()
            note(request(), result: result, since: start)
        } catch {
            guard error.code != .failed else { throw error }
            throw ServerFault(error.code, "\(LDAPText.printable(request())): \(error.log)")
        }
    }

    /// Notes a step whose request, which contains no secrets, was sent at a time of `MonotonicTime`.
    func note(_ request: String, result: String, since start: UInt64) {
        let (request, time) = (LDAPText.printable(request), MonotonicTime.text(since: start))
        var line = server
        // One allocation.
        line.reserveCapacity(server.utf8.count + request.utf8.count + result.utf8.count + time.utf8.count + 6)
        line += ": "
        line += request
        line += ": "
        line += result
        line += ", "
        line += time
        note(line)
    }
}

extension Directory {
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
            var connection: LDAPConnection?
            try steps.measure("connection and bind for searches") { () throws(ServerFault) in
                connection = try LDAPConnection(server, settings: settings, call: call)
                return settings.serviceName
            }
            guard let connection else { return }
            defer { connection.close() }
            let login = DirectoryLogin(
                connection: connection,
                call: call,
                cache: GroupCache(.zero),
                bindTimes: bindTimes,
                steps: steps
            )
            try login.test(typed, report: report)
        } catch {
            report(BackEndStep("\(server.text): \(error.log)", isFailure: true))
        }
    }
}

extension LDAPSettings {
    fileprivate var serviceName: String {
        switch serviceBind {
        case .anonymous: "anonymous"
        case .simple(let name, _): name
        case .external: "the client certificate"
        case .none: "no bind: users bind directly"
        }
    }
}

extension DirectoryLogin {
    /// Reads the root entry and the bases, and looks a user up.
    fileprivate func test(_ typed: TypedName?, report: (BackEndStep) -> Void) throws(ServerFault) {
        let settings = connection.settings
        guard case .search(let filter, let scope) = settings.location else {
            guard let typed, case .directBind(let pattern, _) = settings.location else { return }
            let name = pattern.bindName(typed.user)
            report(
                BackEndStep(
                    name.map { "a login binds as \($0); only the password shows whether there is this user" }
                        ?? DNPattern.unusableName,
                    isFailure: name == nil
                )
            )
            return
        }
        try steps.measure("root entry") { () throws(ServerFault) in
            let abilities = try connection.abilities(call)
            return abilities.isActiveDirectory
                ? "Active Directory" : "password change by RFC 3062: \(abilities.changesPasswords ? "yes" : "no")"
        }
        for base in [settings.base, settings.groups.base] where typed == nil {
            let search = LDAPSearch.entry(base, attributes: LDAPAttributeList([]))
            var isFound = false
            try steps.measure("entry \(base)") { () throws(ServerFault) in
                isFound = try !connection.search(search, call: call).isEmpty
                return isFound ? "found" : "not found, or this account has no right to read it"
            }
            // The account may read the entries below without reading the base.
        }
        guard let typed else { return }
        guard let user = try find(typed, filter: filter, scope: scope, attributes: settings.recordAttributes) else {
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
