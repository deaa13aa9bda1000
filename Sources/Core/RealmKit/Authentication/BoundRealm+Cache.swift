// SPDX-License-Identifier: Apache-2.0

extension BoundRealm {
    /// Evaluates the realm's stack, or repeats an accepted login from the cache, and adds the groups of the realm.
    ///
    /// The cache is used only if the realm has ``CacheTimes``, the client has presented a password, and the login may
    /// be granted. An expired entry is used only during an outage. To tell an outage from a failure that the user has
    /// caused, a login of an invented user is tried. A login is stored only if this password was its only credential.
    func login(
        _ request: consuming LoginRequest,
        asking conversation: any Conversation,
        mayGrant: Bool,
        cache: (any LoginCache)?
    ) async -> LoginReport {
        guard let cache, let cacheTimes, mayGrant, let password = await presentedPassword(conversation),
            let entry = cache.entry(for: copy request, account: account(of: request.username), password: password)
        else { return await login(request, asking: conversation, mayGrant: mayGrant) }
        if let (login, age) = entry.accepted, age < cacheTimes.lifetime {
            return await repeated(login, request, note: "accepted \(Self.text(age)) ago by the realm")
        }
        let presented = PresentedPasswordConversation(conversation, password: password)
        let report = await login(copy request, asking: presented, mayGrant: true)
        if let identity = report.identity {
            // A login that needed more than the password ends the entries of logins with the password alone.
            if presented.usedPasswordOnly {
                entry.store(CachedLogin(identity, subject: report.record.committedSubject))
            } else {
                entry.remove()
            }
            return report
        }
        guard report.isUnavailable else {
            // A refusal of another password says something about the entry only if it is about the account itself.
            // Otherwise anybody could remove it.
            if report.refusal?.failure.isAboutAccount == true { entry.remove() } else { entry.refuse() }
            return report
        }
        guard let (login, age) = await staleLogin(for: copy request, entry: entry, report: report, cache: cache) else {
            return report
        }
        cache.reportStaleUse(account(of: request.username), instead: report, age: age)
        let cause = report.steps.compactMap(\.fault).first.map { ": \($0.log)" } ?? ""
        return await repeated(login, request, note: "accepted \(Self.text(age)) ago; now it is unavailable\(cause)")
    }

    /// Returns the login of an entry that may be used although it has expired, because the realm is down; nil
    /// otherwise.
    private func staleLogin(
        for request: LoginRequest,
        entry: any LoginCacheEntry,
        report: LoginReport,
        cache: any LoginCache
    ) async -> (login: CachedLogin, age: Duration)? {
        guard report.mayBeOutage, usableStale(entry) != nil, !Task.isCancelled else { return nil }
        guard await cache.isDown(name, check: { await isDown(inventing: request) }) else { return nil }
        // A revocation may have removed the entry during the check.
        return Task.isCancelled ? nil : usableStale(entry)
    }

    private func usableStale(_ entry: any LoginCacheEntry) -> (login: CachedLogin, age: Duration)? {
        guard let cacheTimes, let accepted = entry.accepted,
            accepted.age < cacheTimes.lifetime + cacheTimes.staleTime
        else { return nil }
        return accepted
    }

    /// Evaluates the realm's stack and adds the groups of the realm.
    func login(
        _ request: consuming LoginRequest,
        asking conversation: any Conversation,
        mayGrant: Bool
    ) async -> LoginReport {
        let report = await stack.login(request, asking: conversation, mayGrant: mayGrant)
        addRealmGroups(to: report)
        return report
    }

    /// Returns whether the realm cannot decide the login of an invented user, which is never granted, and has no
    /// address, so that the limits of the user's address and account do not apply.
    private func isDown(inventing request: LoginRequest) async -> Bool {
        guard let invented = request.username.inventedUser else { return false }
        let login = await HeldLogin(
            LoginRequest(realm: name, username: invented, service: request.service),
            in: self,
            asking: PreparedConversation(password: Secret(utf8: invented.text)),
            mayGrant: true
        )
        return await login.finish(grants: false)?.mayBeOutage == true
    }

    private func repeated(_ login: CachedLogin, _ request: consuming LoginRequest, note: String) async -> LoginReport {
        let module = LoginStack.Entry(CachedLoginModule(login, note: note), .required)
        let stack = LoginStack(name: stack.name, [module], clock: stack.clock)
        let report = await stack.login(request, asking: PreparedConversation.silent)
        addRealmGroups(to: report)
        return report
    }

    /// Returns the password that the client has presented with its request; nil if the user would have to be asked.
    private func presentedPassword(_ conversation: any Conversation) async -> Secret? {
        guard conversation.presentsSecret else { return nil }
        // After a fault the realm's modules get the same fault, under their control flags.
        guard case .secret(let password)? = try? await conversation.answer([.password(prompt: "Password")]).first
        else { return nil }
        return password
    }

    private static func text(_ age: Duration) -> String { "\(age.components.seconds) s" }
}

extension LoginFailure {
    /// True if the failure does not depend on the password: the account cannot be used at present.
    fileprivate var isAboutAccount: Bool {
        switch self {
        case .unknownUser, .locked, .disabled, .accountExpired, .permissionDenied: true
        case .wrongCredentials, .missingCredential, .unusableCredential, .credentialExpired, .unavailable, .overloaded,
            .internalError:
            false
        }
    }
}

/// Accepts a user because of an entry in the cache, in a stack of this module alone: the login passes through the
/// engine and has an ordinary report.
struct CachedLoginModule: ImmediateLoginModule {
    static let moduleNames = ["cache"]

    private let login: CachedLogin
    private let note: String

    init(_ login: CachedLogin, note: String) {
        self.login = login
        self.note = note
    }

    init(realm: any Realm, options: ModuleOptions) throws(BadModule) {
        throw BadModule("is not a module of login.conf")
    }

    func authenticateUser(_ attempt: LoginAttempt) throws(LoginFault) -> Verdict {
        attempt.note(note)
        return attempt.commit(as: login.username, others: login.principals, attributes: login.attributes)
    }
}
