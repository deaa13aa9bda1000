// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmConfiguration
internal import RealmKit
internal import Sessions

/// Decides what becomes of a request, in two halves with the login in between.
///
/// Neither half waits for anything, so that a request can be decided on an event loop as well as in a task: both go
/// through here and nowhere else, and so do the requests that proxies ask about.
struct Gate: Sendable {
    /// What is asked for, and by whom.
    struct Asked {
        /// The host.
        let host: Host
        let path: RequestPath
        let method: String
        /// Where the request came from, as far as proxies that are trusted have said.
        let address: String?
        /// The session that was presented.
        let session: OurCookies.Found
        /// Whether the session's idle time begins anew.
        var isActivity = true
    }

    /// What a request says its host is.
    enum Host {
        /// It does not matter, as no rule is about hosts.
        case any
        /// As it stands there; it is read if a rule is about hosts.
        case text(String)
        /// Read already.
        case read(RequestHost)
    }

    /// What becomes of a request.
    enum Decision: Sendable {
        /// No rule is about it.
        case unruled
        /// A rule lets everybody have it.
        case open
        /// The user may have it.
        case allowed(SignedInUser)
        /// Nobody may have it from there, or the user is known and may not: 403.
        case forbidden(SignedInUser?)
        /// Credentials are needed, or those that came were refused: 401 or a page to sign in on.
        case challenge(Challenge, wasRefused: Bool)
        /// Rules are about the path, and none about the method: 405.
        case methodNotAllowed([String])
        /// The request is not one that can be decided: 400.
        case malformed(String)
        /// The realm could not be asked: 503.
        case unavailable
    }

    /// The first half's outcome.
    enum Beginning: Sendable {
        /// Nothing needs to be asked. There is an entry where somebody was known from before.
        case decided(Decision, Known?)
        /// Somebody has to be logged in; see ``decide(_:)``.
        case login(Login)
    }

    /// A login that is to be made.
    struct Login: Sendable {
        let username: Username
        let password: Secret
        let address: String?
        let rule: ProtectRule
        let key: VerifiedCredentials.Key?
    }

    /// Somebody who is known from before.
    enum Known: Sendable {
        /// Credentials were accepted not long ago.
        case credentials(VerifiedCredentials.Entry)
        /// There is a session, and this is what it was presented by.
        case session(Session, OpaqueToken)

        /// Who it is.
        var user: SignedInUser {
            switch self {
            case .credentials(let entry): entry.user
            case .session(let session, _): session.user
            }
        }
    }

    /// Which paths are protected.
    let rules: ProtectionRules
    /// The way in.
    let authenticator: Authenticator
    /// Who has signed in.
    let sessions: SessionTable
    private let verified: VerifiedCredentials
    private let clock: any LoginClock

    /// A gate.
    ///
    /// - Parameters:
    ///   - rules: Which paths are protected.
    ///   - authenticator: The way in.
    ///   - sessions: Who has signed in.
    ///   - verified: Where accepted credentials are remembered.
    ///   - clock: Tells when they were.
    init(
        rules: ProtectionRules,
        authenticator: Authenticator,
        sessions: SessionTable,
        verified: VerifiedCredentials,
        clock: any LoginClock
    ) {
        self.rules = rules
        self.authenticator = authenticator
        self.sessions = sessions
        self.verified = verified
        self.clock = clock
    }

    /// A gate with other rules, which knows the same people: who is forgotten by one is forgotten by both.
    func asking(_ rules: ProtectionRules) -> Gate {
        Gate(rules: rules, authenticator: authenticator, sessions: sessions, verified: verified, clock: clock)
    }

    /// Decides what can be decided without a login.
    ///
    /// - Parameters:
    ///   - asked: What is asked for.
    ///   - presented: What the request's `Authorization` fields come to; not asked for where they do not matter.
    /// - Returns: What is decided already, or the login that has to be made.
    func begin(_ asked: Asked, _ presented: () -> BasicScheme.Presented) -> Beginning {
        let guarded: ProtectionRules.Guarded
        let match =
            switch asked.host {
            case .any: rules.match(host: nil as RequestHost?, path: asked.path, method: asked.method)
            case .text(let text): rules.match(host: text, path: asked.path, method: asked.method)
            case .read(let host): rules.match(host: host, path: asked.path, method: asked.method)
            }
        switch match {
        case .doubtfulHost: return .decided(.malformed("the host is doubtful"), nil)
        case .none: return .decided(.unruled, nil)
        case .uncovered(let allowed): return .decided(.methodNotAllowed(allowed), nil)
        case .rule(let matching): guarded = matching
        }
        let rule = guarded.rule
        guard rule.covers(peer: asked.address) else { return .decided(.forbidden(nil), nil) }
        switch rule.access {
        case .open: return .decided(.open, nil)
        case .nobody: return .decided(.forbidden(nil), nil)
        case .users: break
        }
        if rule.schemes.contains(.form), case .token(let token) = asked.session,
            let session = sessions.session(token, isActivity: asked.isActivity),
            rule.realms.contains(session.user.realm)
        {
            return .decided(
                admit(session.user, isAllowed: rule.allows(session.user)),
                .session(session, token)
            )
        }
        guard rule.schemes.contains(.basic) else { return .decided(challenge(rule, wasRefused: false), nil) }
        switch presented() {
        case .nothing: return .decided(challenge(rule, wasRefused: false), nil)
        case .unusable: return .decided(challenge(rule, wasRefused: true), nil)
        case .malformed(let reason): return .decided(.malformed(reason), nil)
        case .credentials(let credentials):
            let key = verified.key(realms: rule.realms, peer: asked.address, credentials)
            if let key, let entry = verified.entry(key, clock.now) {
                return .decided(admit(entry.user, isAllowed: entry.isAllowed(by: guarded)), .credentials(entry))
            }
            guard let (username, password) = credentials.separated() else {
                return .decided(challenge(rule, wasRefused: true), nil)
            }
            return .login(
                Login(username: username, password: password, address: asked.address, rule: rule, key: key)
            )
        }
    }

    /// Makes a login, asking the rule's realms in order until one accepts, and decides after it.
    ///
    /// - Parameter login: The login.
    /// - Returns: The decision, and how the login went that decided.
    func decide(_ login: Login) async -> (decision: Decision, report: LoginReport?) {
        let attempt = await SignInAttempt.make(
            authenticator,
            login.rule.realms,
            login.username,
            address: login.address,
            asking: PreparedConversation(name: login.username.text, password: login.password)
        )
        switch attempt.outcome {
        case .accepted(let identity, let report):
            if let key = login.key, let realm = authenticator.realms[identity.realm] {
                let known = VerifiedCredentials.Known(
                    // As it was typed: that is what a lock is counted on.
                    account: realm.account(of: report.username),
                    username: identity.username,
                    source: report.peer.map { Source($0) }
                )
                verified.remember(key, identity, known, clock.now)
            }
            return (admit(SignedInUser(identity), isAllowed: login.rule.allows(identity)), report)
        case .refused(let report): return (challenge(login.rule, wasRefused: true), report)
        case .unavailable(let report): return (.unavailable, report)
        }
    }

    private func challenge(_ rule: ProtectRule, wasRefused: Bool) -> Decision {
        .challenge(Challenge(rule), wasRefused: wasRefused)
    }

    /// Whether somebody who is known may have what the rule protects: for both lanes, and whether the login was just now
    /// or some time ago.
    private func admit(_ user: SignedInUser, isAllowed: Bool) -> Decision {
        isAllowed ? .allowed(user) : .forbidden(user)
    }

    /// No longer believes credentials that were accepted before, and ends sessions.
    ///
    /// Where it is not known who has changed, sessions are to be looked at one by one: see ``recheck(_:)``.
    ///
    /// - Parameters:
    ///   - users: Whose.
    ///   - realm: The realm they live in.
    func forget(_ users: ChangedUsers, of realm: String) {
        switch users {
        case .some(let names):
            guard !names.isEmpty else { return }
            verified.forget { $0.account.realm == realm && names.contains($0.username) }
            sessions.end(.userChanged) { $0.user.realm == realm && names.contains($0.user.username) }
        case .all:
            verified.forget { $0.account.realm == realm }
        }
    }

    /// Ends the sessions of a realm's users who have changed, as their stamps tell; where nothing can be told, they go on.
    ///
    /// - Parameter realm: The realm's name.
    func recheck(_ realm: String) async {
        let authority = SessionAuthority(authenticator: authenticator)
        await sessions.recheck(of: realm) { await authority.standing(of: $0) }
    }

    /// No longer believes credentials that were accepted of an account.
    ///
    /// Sessions go on: whoever guesses wrong often enough must not be able to sign others out.
    func forget(_ account: Account) {
        verified.forget { $0.account == account }
    }

    /// No longer believes credentials that were accepted from an address.
    func forget(_ source: Source) {
        verified.forget { $0.source == source }
    }
}
