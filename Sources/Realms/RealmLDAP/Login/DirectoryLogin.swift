// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Bytes
internal import CLDAP
internal import RealmKit
internal import ServerConnections
internal import Workers

/// The answer of a directory to a user name and a password.
enum DirectoryAnswer: Sendable {
    case accepted(DirectoryUser)
    /// The directory refuses the bind. That of a user with a wrong password would have taken this time longer. The name is
    /// that of the entry, if it was read.
    case refused(BindProblem, missing: Duration, of: Username? = nil)
    /// No entry has the name. The bind of a user with a wrong password would have taken this time.
    case unknownUser(missing: Duration)
    /// The directory refuses the new password.
    case newPasswordRefused(String)
}

struct DirectoryUser: Sendable {
    let username: Username
    let groups: [String]
    let attributes: [UserAttribute]
}

/// One login on one connection: finds the entry, binds as the user, and finds the groups.
struct DirectoryLogin {
    let connection: LDAPConnection
    let call: ServerCall
    let cache: GroupCache
    let bindTimes: BindTimes
    let steps: DirectorySteps
    var renew: @Sendable ([DirectoryGroup]) -> Void = { _ in }
    /// Receives the reasons why an entry cannot sign in, for the log.
    var report: @Sendable (String) -> Void = { _ in }
    var aliases = AccountAliases()
    private var settings: LDAPSettings { connection.settings }

    /// Checks a password, which is not empty; if the login is refused in any case (`isLocked`), nothing follows the
    /// bind.
    func authenticate(
        _ typed: TypedName,
        password: Secret,
        isLocked: Bool = false
    ) throws(ServerFault) -> DirectoryAnswer {
        switch settings.location {
        case .search(let filter, let scope):
            guard let user = try find(typed, filter: filter, scope: scope) else {
                return .unknownUser(missing: bindTimes.sample())
            }
            if settings.serviceAccount?.isEntry(user.entry) == true {
                // Wrong passwords would make the directory lock the account that all logins need.
                steps.note("\(steps.server): \(user.name) is the account of search-bind-dn, which cannot sign in")
                return .unknownUser(missing: bindTimes.sample())
            }
            let refusal = try bind(user.name, password: password, isDisabled: user.isDisabled, isLocked: isLocked)
            if case .refused(let problem, let missing, _) = refusal {
                return .refused(problem, missing: missing, of: user.username)
            }
            return .accepted(try complete(user))
        case .directBind(let pattern, let filter):
            guard let name = pattern.bindName(typed.user) else {
                steps.note("\(steps.server): \(LDAPText.printable(typed.user)): \(DNPattern.unusableName)")
                return .unknownUser(missing: bindTimes.sample())
            }
            let start = MonotonicTime.now
            if let refusal = try bind(name, password: password, isDisabled: false, isLocked: isLocked) {
                return isLocked || DNPattern.isPlain(typed.user) ? refusal : try spellingHidden(refusal, name: name)
            }
            let problem = "the user cannot read the entry, which has the groups and the name"
            let unreadable = ServerFault(.failed, "\(name): \(problem)")
            let found: UserEntry?
            if let filter {
                found = try find(typed, filter: filter, scope: .subtree)
                guard found != nil else { throw unreadable }
            } else {
                guard let entry = try read(name) else { throw unreadable }
                found = try user(entry, typed: typed)
            }
            guard let user = found else { return .refused(.otherSpelling, missing: bindTimes.missing(since: start)) }
            if user.isDisabled { return .refused(.disabled, missing: .zero) }
            // Another entry may have the name of the bind, such as a principal name that is no account name.
            if !pattern.isDistinguishedName,
                let refusal = try bind(user.name, password: password, isDisabled: user.isDisabled)
            {
                return refusal
            }
            return .accepted(try complete(user))
        }
    }

    /// Changes a password that has expired or must be changed, and returns the answer to a login with the new one,
    /// which is not empty, or the reason of the directory.
    func change(
        _ typed: TypedName,
        from old: Secret,
        to new: Secret,
        change: BindProblem.PasswordChange
    ) throws(ServerFault) -> DirectoryAnswer {
        if change == .activeDirectory, QuotedPassword.make(new) == nil {
            return .newPasswordRefused("The new password cannot be used.")
        }
        let name: String
        switch settings.location {
        case .search(let filter, let scope):
            guard let user = try find(typed, filter: filter, scope: scope) else { return .unknownUser(missing: .zero) }
            name = user.name
        case .directBind(let pattern, _):
            guard pattern.isDistinguishedName, let bindName = pattern.bindName(typed.user) else {
                throw ServerFault(.failed, "the password cannot be changed without the user's distinguished name")
            }
            name = bindName
        }
        if change == .ownBind, let refusal = try bind(name, password: old, isDisabled: false),
            case .refused(let problem, _, _) = refusal, problem.change != .ownBind
        {
            return refusal
        }
        var refusal: LDAPReply?
        try steps.measure("change of the password of \(name)") { () throws(ServerFault) in
            let reply = try self.reply(name, from: old, to: new, change: change)
            if !reply.isSuccess { refusal = reply }
            return reply.description
        }
        guard let refusal else { return try authenticate(typed, password: new) }
        if change == .activeDirectory, let problem = BindProblem.ofChange(refusal) {
            return .refused(problem, missing: .zero)
        }
        guard let text = Self.rule(refusal, change: change) else {
            throw ServerFault(.failed, "the password of \(name) cannot be changed: \(refusal.description)")
        }
        return .newPasswordRefused(text)
    }

    private func reply(
        _ name: String,
        from old: Secret,
        to new: Secret,
        change: BindProblem.PasswordChange
    ) throws(ServerFault) -> LDAPReply {
        switch change {
        case .ownBind: return try connection.changeOwnPassword(of: name, from: old, to: new, call: call)
        case .activeDirectory:
            guard let old = QuotedPassword.make(old), let new = QuotedPassword.make(new) else {
                throw ServerFault(.failed, "a password that is not UTF-8 cannot be changed")
            }
            return try connection.changeActiveDirectoryPassword(of: name, from: old, to: new, call: call)
        }
    }

    /// Returns the reason for the user why a new password is refused; nil if the password is not the reason.
    private static func rule(_ reply: LDAPReply, change: BindProblem.PasswordChange) -> String? {
        if change == .activeDirectory {
            guard BindProblem.changeCode(reply.message) == BindProblem.passwordRestriction else { return nil }
            return "The new password does not meet the rules of the directory for its length, its characters or its "
                + "age, or was used before."
        }
        switch reply.policy?.problem {
        case .insufficientPasswordQuality: return "The new password is too simple."
        case .passwordTooShort: return "The new password is too short."
        case .passwordTooYoung: return "The password was changed too recently."
        case .passwordInHistory: return "The new password was used before."
        case .passwordExpired, .accountLocked, .changeAfterReset, .passwordModNotAllowed, .mustSupplyOldPassword:
            return nil
        case nil: return reply.code == LDAP_CONSTRAINT_VIOLATION ? "The directory rejects the new password." : nil
        }
    }

    // MARK: Steps

    /// Returns the entry of a user; nil if there is none, or none that is certainly the entry of this user.
    ///
    /// If the filter compares several attributes, and a user has written the name of another user into one of them, the
    /// entry whose name attribute is the typed name is the user's.
    func find(
        _ typed: TypedName,
        filter: FilterTemplate,
        scope: LDAPSearch.Scope,
        attributes: LDAPAttributeList? = nil
    ) throws(ServerFault) -> UserEntry? {
        let text = filter.filter { $0 == .typedName ? typed.full : typed.user }
        func entries(_ filter: String, limit: Int32) throws(ServerFault) -> [LDAPEntry] {
            let search = LDAPSearch(
                base: settings.base,
                scope: scope,
                filter: filter,
                attributes: attributes ?? settings.userAttributes,
                sizeLimit: limit
            )
            var found: [LDAPEntry] = []
            try steps.measure(search.text) { () throws(ServerFault) in
                found = try connection.search(search, call: call)
                return found.isEmpty ? "no entry" : found.map(\.name).joined(separator: "; ")
            }
            return found
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
            report("several entries match \(text), and not exactly one has this \(name.name); the user is refused")
            return nil
        }
        if let user = users.first { aliases.record(typed, of: user) }
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
            steps.note("\(steps.server): \(LDAPText.printable(error.log))")
            if !entry.isComplete { report("\(error.log); the user is refused") }
            return nil
        }
    }

    /// Reads the entry with a distinguished name; nil if it cannot be read.
    private func read(_ name: String) throws(ServerFault) -> LDAPEntry? {
        try connection.search(.entry(name, attributes: settings.userAttributes), call: call).first
    }

    /// Returns the refusal of a direct bind with a name of which the directory may know several spellings.
    ///
    /// Neither its time nor a question for a new password tells it from ``BindProblem/otherSpelling``, which follows the
    /// right password and the same request.
    private func spellingHidden(_ refusal: DirectoryAnswer, name: String) throws(ServerFault) -> DirectoryAnswer {
        do throws(ServerFault) {
            _ = try read(name)
        } catch {
            guard error.code == .failed else { throw error }
        }
        guard case .refused(var problem, let missing, _) = refusal else { return refusal }
        problem.change = nil
        return .refused(problem, missing: missing)
    }

    /// Binds as a user; returns nil if that is a login, and otherwise the refusal.
    ///
    /// A locked login is refused after the time of a wrong password, whatever the answer of the directory.
    private func bind(
        _ name: String,
        password: Secret,
        isDisabled: Bool,
        isLocked: Bool = false
    ) throws(ServerFault) -> DirectoryAnswer? {
        var isAccepted = false
        var problem: BindProblem?
        let start = MonotonicTime.now
        try steps.measure("bind as \(name)") { () throws(ServerFault) in
            let reply = try connection.bind(name, password: password, call: call)
            isAccepted = reply.isSuccess
            problem = BindProblem.problem(reply, isDisabled: isDisabled)
            if problem?.failure == .unavailable {
                throw ServerFault(.failed, "the bind as \(name) was answered with \(reply.description)")
            }
            return ([reply.description] + Self.texts(problem, policy: reply.policy)).joined(separator: "; ")
        }
        var missing = Duration.zero
        if isAccepted { bindTimes.addAccepted(since: start) } else { missing = bindTimes.addRefused(since: start) }
        if isAccepted, isLocked {
            problem = .lockedLogin
            missing = bindTimes.missing(since: start)
        }
        return problem.map { .refused($0, missing: missing) }
    }

    private static func texts(_ problem: BindProblem?, policy: LDAPReply.Policy?) -> [String] {
        [
            problem?.text, policy?.secondsLeft.map { "the password expires in \($0) s" },
            policy?.loginsLeft.map { "the password has expired, \($0) logins are left" },
        ].compactMap(\.self)
    }

    private func complete(_ user: UserEntry) throws(ServerFault) -> DirectoryUser {
        DirectoryUser(username: user.username, groups: try groups(of: user), attributes: user.attributes)
    }

    func groups(of user: UserEntry) throws(ServerFault) -> [String] { try groupSearch.groups(of: user) }

    var groupSearch: GroupSearch {
        GroupSearch(connection: connection, call: call, cache: cache, steps: steps, renew: renew)
    }
}
#endif
