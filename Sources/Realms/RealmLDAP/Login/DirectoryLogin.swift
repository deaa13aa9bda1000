// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Bytes
internal import RealmKit
internal import ServerConnections
internal import Workers

/// The answer of a directory to a user name and a password.
enum DirectoryAnswer: Sendable {
    case accepted(DirectoryUser)
    case refused(BindProblem)
}

struct DirectoryUser: Sendable {
    let username: Username
    let groups: [String]
    let attributes: [UserAttribute]
}

/// One login on one connection: finds the entry, binds as the user, and finds the groups.
struct DirectoryLogin {
    let directory: Directory
    let connection: LDAPConnection
    let steps: DirectorySteps
    let cache: GroupCache
    /// Renews the groups that contain groups before they are read again at a login.
    var renew: @Sendable ([DirectoryGroup]) -> Void = { _ in }
    var settings: LDAPSettings { directory.settings }

    /// Checks a password, which is not empty; if the login is refused in any case (`isLocked`), nothing follows the
    /// bind.
    func authenticate(
        _ typed: TypedName,
        password: Secret,
        isLocked: Bool = false
    ) throws(ServerFault) -> DirectoryAnswer {
        switch settings.location {
        case .search:
            guard let user = try find(typed) else { return unknownUser }
            if settings.serviceAccount?.isEntry(user.entry) == true {
                // Wrong passwords would make the directory lock the account that all logins need.
                steps.note("\(user.name) is the account of search-bind-dn, which cannot sign in")
                return unknownUser
            }
            if var problem = try bind(user.name, password: password, isDisabled: user.isDisabled, isLocked: isLocked) {
                problem.user = user.username
                return .refused(problem)
            }
            return try accepted(user)
        case .directBind(let pattern, _):
            return try authenticate(typed, by: pattern, password: password, isLocked: isLocked)
        }
    }

    /// Binds without a search; the entry is read by the user's own bind.
    private func authenticate(
        _ typed: TypedName,
        by pattern: DNPattern,
        password: Secret,
        isLocked: Bool
    ) throws(ServerFault) -> DirectoryAnswer {
        guard let name = pattern.bindName(typed.user) else {
            steps.note("\(LDAPText.printable(typed.user)): \(DNPattern.unusableName)")
            return unknownUser
        }
        let start = MonotonicTime.now
        if let problem = try bind(name, password: password, isLocked: isLocked) {
            return .refused(
                isLocked || DNPattern.isPlain(typed.user) ? problem : try spellingHidden(problem, name: name)
            )
        }
        let unreadable = ServerFault(
            .failed,
            "\(name): the user cannot read the entry, which has the groups and the name"
        )
        let found: UserEntry?
        if pattern.isDistinguishedName {
            guard let entry = try read(name) else { throw unreadable }
            found = try user(entry, typed: typed)
        } else {
            found = try find(typed)
            guard found != nil else { throw unreadable }
        }
        guard let user = found else {
            var problem = BindProblem.otherSpelling
            problem.missing = directory.bindTimes.missing(since: start)
            return .refused(problem)
        }
        if user.isDisabled { return .refused(.disabled) }
        // Another entry may have the name of the bind, such as a principal name that is no account name.
        if !pattern.isDistinguishedName, let problem = try bind(user.name, password: password) {
            return .refused(problem)
        }
        return try accepted(user)
    }

    private func accepted(_ user: UserEntry) throws(ServerFault) -> DirectoryAnswer {
        .accepted(DirectoryUser(username: user.username, groups: try groups(of: user), attributes: user.attributes))
    }

    private var unknownUser: DirectoryAnswer {
        .refused(BindProblem(.unknownUser, "there is no entry of the user", missing: directory.bindTimes.sample()))
    }

    // MARK: Search

    /// Returns the entry of a user; nil if there is none, or none that is certainly the entry of this user.
    ///
    /// If the filter compares several attributes, and a user has written the name of another user into one of them, the
    /// entry whose name attribute is the typed name is the user's.
    func find(_ typed: TypedName, attributes: [String]? = nil) throws(ServerFault) -> UserEntry? {
        guard let (filter, scope) = settings.location.search else { return nil }
        let text = filter.filter { $0 == .typedName ? typed.full : typed.user }
        func entries(_ filter: String, limit: Int32) throws(ServerFault) -> [LDAPEntry] {
            let search = LDAPSearch(
                base: settings.base,
                scope: scope,
                filter: filter,
                attributes: attributes ?? settings.userAttributes,
                sizeLimit: limit
            )
            return try steps.measure(search.text, try connection.search(search)) { found in
                found.isEmpty ? "no entry" : found.map(\.name).joined(separator: "; ")
            }
        }
        var found: [LDAPEntry] = []
        var isAmbiguous = false
        do throws(ServerFault) {
            found = try entries(text, limit: 2)
            isAmbiguous = found.count > 1
        } catch {
            // An entry that is too large may be that of another user.
            guard connection.wasTooLarge else { throw error }
            isAmbiguous = true
        }
        let name = settings.nameAttribute
        if isAmbiguous {
            let isName = "(\(name.name)=\(LDAPText.filterValue(name.text(of: typed).utf8)))"
            found = try entries("(&\(text)\(isName))", limit: Self.maximumNamesakes)
        }
        var users: [UserEntry] = []
        for entry in found {
            guard let user = try user(entry, typed: typed), !isAmbiguous || user.isTypedName else { continue }
            users.append(user)
        }
        guard users.count < 2, !isAmbiguous || users.count == 1 else {
            directory.report(
                "several entries match \(text), and not exactly one has this \(name.name); the user is refused"
            )
            return nil
        }
        if let user = users.first { directory.aliases.record(typed, of: user) }
        return users.first
    }

    /// The maximum number of entries that are compared to find the one of the user.
    private static let maximumNamesakes: Int32 = 32

    /// Returns the user of an entry; nil if the entry cannot be the one of the user who has typed a name.
    private func user(_ entry: LDAPEntry, typed: TypedName) throws(ServerFault) -> UserEntry? {
        do throws(BadEntry) {
            return try UserEntry(entry, typed: typed, settings: settings)
        } catch {
            guard !error.isMissing else { throw ServerFault(.failed, error.log) }
            steps.note(LDAPText.printable(error.log))
            if !entry.isComplete { directory.report("\(error.log); the user is refused") }
            return nil
        }
    }

    /// Reads the entry with a distinguished name; nil if it cannot be read.
    private func read(_ name: String) throws(ServerFault) -> LDAPEntry? {
        try connection.search(.entry(name, attributes: settings.userAttributes)).first
    }

    // MARK: Bind

    /// Binds as a user; returns nil if that is a login, and otherwise the problem.
    ///
    /// A locked login is refused after the time of a wrong password, whatever the answer of the directory.
    func bind(
        _ name: String,
        password: Secret,
        isDisabled: Bool = false,
        isLocked: Bool = false
    ) throws(ServerFault) -> BindProblem? {
        let start = MonotonicTime.now
        let (reply, found) = try steps.measure(
            "bind as \(name)",
            try answer(to: name, password: password, isDisabled: isDisabled)
        ) { reply, problem in
            let texts: [String?] = [
                reply.description, problem?.text, reply.policy?.secondsLeft.map { "the password expires in \($0) s" },
                reply.policy?.loginsLeft.map { "the password has expired, \($0) logins are left" },
            ]
            return texts.compactMap(\.self).joined(separator: "; ")
        }
        var problem = isLocked && reply.isSuccess ? .lockedLogin : found
        if !reply.isSuccess {
            problem?.missing = directory.bindTimes.addRefused(since: start)
        } else {
            directory.bindTimes.addAccepted(since: start)
            if isLocked { problem?.missing = directory.bindTimes.missing(since: start) }
        }
        return problem
    }

    /// Sends a bind; throws if the directory cannot decide.
    private func answer(
        to name: String,
        password: Secret,
        isDisabled: Bool
    ) throws(ServerFault) -> (LDAPReply, BindProblem?) {
        let reply = try connection.bind(name, password: password)
        let problem = BindProblem.problem(reply, isDisabled: isDisabled)
        guard problem?.failure != .unavailable else {
            throw ServerFault(.failed, "the bind as \(name) was answered with \(reply.description)")
        }
        return (reply, problem)
    }

    /// Returns the problem of a direct bind with a name of which the directory may know several spellings.
    ///
    /// Neither its time nor a question for a new password tells it from ``BindProblem/otherSpelling``, which follows the
    /// right password and the same request.
    private func spellingHidden(_ problem: BindProblem, name: String) throws(ServerFault) -> BindProblem {
        do throws(ServerFault) {
            _ = try read(name)
        } catch {
            guard error.code == .failed else { throw error }
        }
        var problem = problem
        problem.change = nil
        return problem
    }
}
#endif
