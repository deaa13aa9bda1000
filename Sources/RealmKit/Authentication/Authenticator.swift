// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The realms of a configuration, and the only way to log in: all schemes, pages and commands use it.
///
/// It may be used from any thread.
public struct Authenticator: Sendable {
    /// The realms by name.
    public let realms: [String: BoundRealm]
    /// The limit for failed logins; nil if there is none.
    public let throttle: (any LoginThrottle)?

    /// Creates an authenticator.
    ///
    /// - Parameters:
    ///   - realms: The realms, with different names.
    ///   - throttle: The limit for failed logins; nil for none.
    public init(_ realms: [BoundRealm], throttle: (any LoginThrottle)? = nil) {
        self.init(byName: Dictionary(realms.map { ($0.name, $0) }) { first, _ in first }, throttle: throttle)
    }

    private init(byName realms: [String: BoundRealm], throttle: (any LoginThrottle)?) {
        self.realms = realms
        self.throttle = throttle
    }

    /// Returns an authenticator of the same realms with a throttle.
    ///
    /// - Parameter throttle: The limit for failed logins. Several authenticators may share it, such as those of a
    ///   configuration and of the one that replaces it.
    /// - Returns: The authenticator.
    public func throttled(by throttle: any LoginThrottle) -> Authenticator {
        Authenticator(byName: realms, throttle: throttle)
    }

    /// Returns the realm of a name; for an unknown name there is no default.
    ///
    /// - Parameter name: The name in realms.conf.
    /// - Returns: The realm.
    /// - Throws: ``RealmError`` of code `noSuchRealm`.
    public func realm(_ name: String) throws(RealmError) -> BoundRealm {
        guard let realm = realms[name] else { throw .noSuchRealm(name, known: Array(realms.keys)) }
        return realm
    }

    /// Authenticates a user in one realm.
    ///
    /// With a ``throttle`` it reserves an attempt, evaluates the stack, even if the login may not be granted, and
    /// settles the attempt.
    ///
    /// - Parameters:
    ///   - request: The realm, the user name, the service and the client's address.
    ///   - conversation: The connection to the user, for the callbacks of the modules.
    /// - Returns: The decision and the steps that led to it.
    /// - Throws: ``RealmError`` of code `noSuchRealm`.
    public func login(
        _ request: consuming LoginRequest,
        asking conversation: any Conversation
    ) async throws(RealmError) -> LoginReport {
        let realm = try realm(request.realm)
        guard let throttle else {
            return await realm.login(request, asking: conversation, mayGrant: true)
        }
        let account = realm.account(of: request.username)
        let reservation = await throttle.reserve([account], by: request.username, from: request.peer)
        let report = await realm.login(request, asking: conversation, mayGrant: reservation.mayGrant(account))
        await reservation.settle([RealmAttempt(account, report: report)])
        return report
    }

    /// Authenticates a user in the first of several realms that accepts.
    ///
    /// The realms are used in order until one accepts. With a ``throttle`` all of it is one attempt: it reserves a
    /// place in the account of each realm in one step, and is settled once. A realm whose account is locked is used
    /// like any other and rejects; the others may still accept.
    ///
    /// - Parameters:
    ///   - username: The user name as the client sent it.
    ///   - realms: The names of the realms, in order; without any the login is refused.
    ///   - service: The service that the user signs in to.
    ///   - peer: The network address of the client, if the login came over a network.
    ///   - conversation: The connection to the user, used by each realm.
    /// - Returns: The decision and the steps in each realm.
    /// - Throws: ``RealmError`` of code `noSuchRealm` if one of the names is unknown; then no realm is used.
    public func login(
        as username: Username,
        inFirstOf realms: [String],
        service: String = "login",
        peer: String? = nil,
        asking conversation: any Conversation
    ) async throws(RealmError) -> MultiRealmLoginReport {
        var bound: [BoundRealm] = []
        for name in realms { bound.append(try realm(name)) }
        let accounts = bound.map { $0.account(of: username) }
        let reservation =
            accounts.isEmpty ? nil : await throttle?.reserve(accounts, by: username, from: peer)
        var attempts: [RealmAttempt] = []
        for (realm, account) in zip(bound, accounts) {
            let request = LoginRequest(realm: realm.name, username: username, service: service, peer: peer)
            // The secrets for each realm are marked only if another realm may follow.
            let marking =
                reservation != nil && bound.count > 1 ? FingerprintingConversation(conversation) : nil
            let report = await realm.login(
                request,
                asking: marking ?? conversation,
                mayGrant: reservation?.mayGrant(account) ?? true
            )
            attempts.append(RealmAttempt(account, report: report, guess: marking?.guess))
            if report.identity != nil { break }
        }
        await reservation?.settle(attempts)
        return MultiRealmLoginReport(attempts.map(\.report))
    }

    /// Ends a login: calls ``LoginModule/logout(_:)`` of every module that it reached.
    ///
    /// The modules are called even if the configuration has changed and the realm no longer exists.
    ///
    /// - Parameter identity: The user to log out.
    /// - Returns: The steps of the logout.
    public func logout(_ identity: AuthenticatedIdentity) async -> LogoutReport {
        await identity.logout()
    }
}

extension BoundRealm {
    /// Evaluates the realm's stack and adds the realm's groups.
    fileprivate func login(
        _ request: consuming LoginRequest,
        asking conversation: any Conversation,
        mayGrant: Bool
    ) async -> LoginReport {
        var report = await stack.login(request, asking: conversation, mayGrant: mayGrant)
        enrich(&report)
        return report
    }
}

extension AuthenticatedIdentity {
    /// Ends the login: calls ``LoginModule/logout(_:)`` of every module that it reached.
    ///
    /// The modules are called even if the configuration has changed and the realm no longer exists.
    ///
    /// - Returns: The steps of the logout.
    package func logout() async -> LogoutReport { await record.stack.logout(self) }

    /// Marks the login as ended, so that its modules are logged out only once.
    ///
    /// - Returns: False if it was marked before; then the earlier caller logs out.
    package func beginLogout() -> Bool { record.beginLogout() }

    /// Removes the notes of the modules, to save memory if an identity is kept for hours.
    package func forgetNotes() { record.forgetNotes() }
}
