// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLKit
package import RealmKit
package import Sessions

/// Decides about requests, in two steps.
///
/// The first step, ``decide(_:credentials:)``, never waits, so it can run on an event loop. The second step,
/// ``complete(_:)``, logs the user in if the decision needs a login. The server's own pages, forward
/// authentication and the middleware all use this type.
package struct AccessController: Sendable {
    package private(set) var rules: ProtectionRules
    package let authenticator: Authenticator
    package let sessions: SessionTable
    let credentialCache: CredentialCache
    /// The cache of the authenticator; nil if it has none.
    private let acceptedLogins: AcceptedLogins?
    /// The clock of the credential cache.
    let clock: any LoginClock
    /// The clock that decides whether a client certificate has expired.
    let wallClock: WallClock

    package init(
        rules: ProtectionRules,
        authenticator: Authenticator,
        sessions: SessionTable,
        credentialCache: CredentialCache,
        acceptedLogins: AcceptedLogins? = nil,
        clock: any LoginClock,
        wallClock: WallClock
    ) {
        self.rules = rules
        self.authenticator = authenticator
        self.sessions = sessions
        self.credentialCache = credentialCache
        self.acceptedLogins = acceptedLogins
        self.clock = clock
        self.wallClock = wallClock
    }

    /// Returns a controller with other rules, which shares the credential cache and the sessions.
    package func with(rules: ProtectionRules) -> AccessController {
        var copy = self
        copy.rules = rules
        return copy
    }

    // MARK: Decisions

    /// A decision, or the login that it needs.
    package enum Answer: Sendable {
        case now(AccessResult)
        /// A realm must check the credentials first: see ``AccessController/complete(_:)``.
        case afterLogin(Login)
    }

    /// Decides about a request, or returns the login that the decision needs; `credentials` reads the `Authorization`
    /// fields, and is called only if the decision depends on them.
    package func decide(_ request: AccessRequest, credentials: () -> BasicScheme.Presented) -> Answer {
        if let method = request.preflightMethod, case .parsed(let host) = request.host,
            let compiled = rules.ruleAllowingPreflight(
                for: method,
                host: host,
                path: request.path,
                from: request.address
            )
        {
            return .now(AccessResult(.open, by: compiled))
        }
        let compiled: ProtectionRules.CompiledRule
        switch match(request) {
        case .ambiguousHost: return .now(AccessResult(.malformed("the host is ambiguous"), by: nil))
        case .ambiguousPath(let reason): return .now(AccessResult(.malformed(reason), by: nil))
        case .none: return .now(AccessResult(.noMatchingRule, by: nil))
        case .uncovered(let allowed, let rules): return .now(AccessResult(.methodNotAllowed(allowed), by: rules.first))
        case .rule(let matching): compiled = matching
        }
        guard compiled.matches(peer: request.address) else { return .now(AccessResult(.forbidden(nil), by: compiled)) }
        switch compiled.rule.access {
        case .open: return .now(AccessResult(.open, by: compiled))
        case .nobody: return .now(AccessResult(.forbidden(nil), by: compiled))
        case .users: break
        }
        if let (session, token) = session(of: request, for: compiled) {
            let decision = decision(about: session.user, isAllowed: compiled.allows(session.user))
            return .now(AccessResult(decision, .session(session, token), by: compiled))
        }
        return decide(request, by: compiled, credentials: credentials)
    }

    private func match(_ request: AccessRequest) -> ProtectionRules.Match {
        switch request.host {
        case .notNeeded: rules.match(host: nil as RequestHost?, path: request.path, method: request.method)
        case .text(let text): rules.match(host: text, path: request.path, method: request.method)
        case .parsed(let host): rules.match(host: host, path: request.path, method: request.method)
        }
    }

    /// Returns the session of a request, if the rule accepts sessions and the realm of its user.
    private func session(
        of request: AccessRequest,
        for compiled: ProtectionRules.CompiledRule
    ) -> (Session, OpaqueToken)? {
        guard compiled.rule.schemes.contains(.form), case .token(let token) = request.session,
            let host = request.host.sessionHost,
            let session = sessions.session(token, at: host, isActivity: request.isActivity),
            compiled.hasRealm(session.user.realm)
        else { return nil }
        return (session, token)
    }

    /// Decides about a request without a session, by the schemes of the rule in their order.
    private func decide(
        _ request: AccessRequest,
        by compiled: ProtectionRules.CompiledRule,
        credentials: () -> BasicScheme.Presented
    ) -> Answer {
        // A certificate that has expired since the handshake is never used. If a login follows, the log shows it.
        let certificate = request.certificate.flatMap { $0.isValid(at: wallClock.seconds) ? $0 : nil }
        var attempts: [Login.Attempt] = []
        var wasRejected = false
        for scheme in compiled.rule.schemes {
            let presented: Login.Method
            let cached: CredentialCache.Credentials
            switch scheme {
            case .form: continue
            case .certificate:
                guard let certificate else {
                    if let expired = request.certificate {
                        attempts.append(Login.Attempt(method: .certificate(expired), key: nil))
                    }
                    continue
                }
                (presented, cached) = (.certificate(certificate), .certificate)
            case .basic:
                switch credentials() {
                case .nothing: continue
                case .malformed(let reason): return .now(AccessResult(.malformed(reason), by: compiled))
                case .unusable:
                    wasRejected = true
                    continue
                case .credentials(let credentials):
                    (presented, cached) = (.password(credentials), .password(credentials))
                }
            }
            let key = credentialCache.key(
                realms: compiled.realmField,
                peer: request.address,
                certificate: certificate,
                credentials: cached
            )
            // After an attempt of another scheme the result of that attempt decides first.
            if attempts.isEmpty, let key, let entry = credentialCache.entry(for: key, at: clock.now) {
                let decision = decision(about: entry.user, isAllowed: entry.isAllowed(by: compiled))
                return .now(AccessResult(decision, .credentials(entry), by: compiled))
            }
            attempts.append(Login.Attempt(method: presented, key: key))
        }
        guard !attempts.isEmpty else {
            return .now(AccessResult(challenge(of: compiled.rule, wasRejected: wasRejected), by: compiled))
        }
        return .afterLogin(
            Login(attempts: attempts, certificate: certificate, address: request.address, compiled: compiled)
        )
    }

    func challenge(of rule: ProtectRule, wasRejected: Bool = false) -> AccessDecision {
        let challenge = Challenge(rule)
        return challenge.isEmpty ? .certificateNeeded : .challenge(challenge, wasRejected: wasRejected)
    }

    func decision(about user: SignedInUser, isAllowed: Bool) -> AccessDecision {
        isAllowed ? .allowed(user) : .forbidden(user)
    }

    // MARK: Revocation

    /// Evicts the credentials of changed users, and ends their sessions.
    ///
    /// For `all` the caller must also call ``revalidateSessions(of:)``: all credentials of the realm are evicted, but
    /// its sessions have to be checked.
    package func revoke(_ users: ChangedUsers, of realm: String) {
        switch users {
        case .some(let names):
            guard !names.isEmpty else { return }
            revoke(of: realm) { names.contains($0) }
        case .all:
            evict { $0.account.realm == realm }
        }
    }

    /// Evicts the credentials of users, and ends their sessions.
    ///
    /// The closure is also called later, with the users of logins that are running now.
    package func revoke(of realm: String, where isChanged: @escaping @Sendable (Username) -> Bool) {
        evict { $0.account.realm == realm && isChanged($0.username) }
        sessions.end(.userChanged) { $0.user.realm == realm && isChanged($0.user.username) }
    }

    /// Ends the sessions of a realm's users whose security stamp has changed since the sign-in; those without a stamp
    /// continue.
    package func revalidateSessions(of realm: String) async {
        let validator = SessionValidator(authenticator: authenticator)
        await sessions.recheck(of: realm) { await validator.status(of: $0) }
    }

    /// Evicts the credentials of an account.
    ///
    /// Its sessions continue: otherwise an attacker could sign the user out by guessing passwords.
    package func evictCredentials(of account: Account) {
        evict { $0.account == account }
    }

    /// Evicts the credentials that were accepted from a network.
    package func evictCredentials(from network: ClientNetwork) {
        evict { $0.network == network }
    }

    private func evict(where matches: @escaping @Sendable (CredentialCache.Client) -> Bool) {
        // First the logins: a credential that is added now may come from such a login.
        acceptedLogins?.evict(where: matches)
        credentialCache.evict(where: matches)
    }
}

/// Determines the current status of users of existing sessions.
///
/// The server compares the stored sessions with it after a restart or reload, and so finds changes made before.
package struct SessionValidator: Sendable {
    private let authenticator: Authenticator

    package init(authenticator: Authenticator) { self.authenticator = authenticator }

    /// Returns the state of a previously authenticated user, or `realmGone` if the realm no longer exists.
    package func status(of user: SignedInUser) async -> UserStatus {
        guard let realm = authenticator.realms[user.realm] else { return .realmGone }
        return .user(await state(of: user.username, in: realm))
    }

    /// Returns the state of a user; its stamp depends on the user's data and on the realm's settings in realms.conf.
    package func state(of user: Username, in realm: BoundRealm) async -> UserState {
        var known: SecurityStamp?
        if let realm = realm.realm as? any RefreshingRealm {
            switch await realm.state(of: user) {
            case .gone: return .gone
            case .present(let stamp): known = stamp
            // A managed realm, a realm that uses one, or a realm that asks another system may be able to read the state
            // later. Until then, the state is unknown.
            case .unknown
            where realm is any ManagedRealm || realm is any NamingRealm || type(of: realm).dependsOnOtherSystems:
                return .unknown
            case .unknown: break
            }
        }
        do throws(OpenSSLError) {
            let digits = known?.bytes.map { String($0, radix: 16) }.joined(separator: ".") ?? ""
            let digest = try Digest.sha256(fields: [digits] + realm.fingerprint)
            return .present(SecurityStamp(digest.bytes, expiry: known?.expiry))
        } catch {
            // Without a digest, the stamp cannot be compared, so a restore ends the session.
            return .unknown
        }
    }
}
