// SPDX-License-Identifier: Apache-2.0

/// Authenticates users in the realms of a configuration, for all schemes, pages and commands, on any thread.
public struct Authenticator: Sendable {
    /// The realms by name.
    public let realms: [String: BoundRealm]
    /// The limit for failed logins; nil if failed logins are not limited.
    public private(set) var throttle: (any LoginThrottle)?
    private var cache: (any LoginCache)?
    private var observer: (any LoginObserver)?

    /// Creates an authenticator for realms with different names.
    public init(_ realms: [BoundRealm], throttle: (any LoginThrottle)? = nil) {
        self.realms = Dictionary(realms.map { ($0.name, $0) }) { first, _ in first }
        self.throttle = throttle
    }

    /// Returns an authenticator with the same realms and a throttle, which several authenticators may share, such as
    /// those before and after a reload.
    public func throttled(by throttle: any LoginThrottle) -> Authenticator {
        var copy = self
        copy.throttle = throttle
        return copy
    }

    /// Returns an authenticator with the same realms and a cache of accepted logins, for the realms with a `cache`
    /// block.
    package func caching(by cache: any LoginCache) -> Authenticator {
        var copy = self
        copy.cache = cache
        return copy
    }

    /// Returns an authenticator with the same realms and an observer of all logins, for example for metrics.
    public func observed(by observer: any LoginObserver) -> Authenticator {
        var copy = self
        copy.observer = observer
        return copy
    }

    /// Returns the realm of a name; no default realm takes the place of an unknown one.
    ///
    /// - Throws: ``RealmError`` of code `noSuchRealm`.
    public func realm(_ name: String) throws(RealmError) -> BoundRealm {
        guard let realm = realms[name] else { throw .noSuchRealm(name, known: Array(realms.keys)) }
        return realm
    }

    /// Authenticates a user in one realm.
    ///
    /// If there is a ``throttle``, an attempt is reserved before the stack is evaluated, and settled afterwards. The
    /// stack is evaluated even if the account or the client's address is locked.
    ///
    /// - Throws: ``RealmError`` of code `noSuchRealm`.
    public func login(
        _ request: LoginRequest,
        asking conversation: any Conversation
    ) async throws(RealmError) -> LoginReport {
        // One realm gives one report.
        await reports(request, in: [try realm(request.realm)], asking: conversation)[0]
    }

    /// Authenticates a user in several realms, in order, until one realm accepts the user; an empty list refuses the
    /// login.
    ///
    /// If there is a ``throttle``, the login is one attempt for all realms. The attempt is reserved for the accounts of
    /// all realms in one step, and settled once. If the account of one realm is locked, the stack of that realm is
    /// still evaluated, and that realm refuses the login. Another realm may still accept the user.
    ///
    /// A later realm may have another person of the same name. With `whenUnavailable: .stop`, the realms after a realm
    /// that is unavailable are not used, and the result is as if they were not in the list.
    ///
    /// - Throws: ``RealmError`` of code `noSuchRealm` if a name is unknown; no realm is used in this case.
    public func login(
        as username: Username,
        inFirstOf realms: [String],
        whenUnavailable: WhenUnavailable = .continue,
        service: String = "login",
        peer: String? = nil,
        asking conversation: any Conversation
    ) async throws(RealmError) -> MultiRealmLoginReport {
        var bound: [BoundRealm] = []
        for name in realms { bound.append(try realm(name)) }
        let request = LoginRequest(realm: realms.first ?? "", username: username, service: service, peer: peer)
        return MultiRealmLoginReport(
            await reports(request, in: bound, whenUnavailable: whenUnavailable, asking: conversation)
        )
    }

    /// Uses the realms in order, each instead of the one in the request.
    private func reports(
        _ request: LoginRequest,
        in realms: [BoundRealm],
        whenUnavailable: WhenUnavailable = .continue,
        asking conversation: any Conversation
    ) async -> [LoginReport] {
        let (username, service, peer) = (request.username, request.service, request.peer)
        let accounts = realms.map { $0.account(of: username) }
        let reservation = accounts.isEmpty ? nil : await throttle?.reserve(accounts, by: username, from: peer)
        if let reservation { conversation.beforeWaiting { reservation.waitsForUser() } }
        var attempts: [RealmAttempt] = []
        // After an outage that a lock hides, the later realms are evaluated but accept no user: to stop at that realm
        // would show the outage.
        var mayContinue = true
        for (realm, account) in zip(realms, accounts) {
            // The throttle needs a fingerprint of the secrets only if a later realm may accept them.
            let fingerprinting =
                reservation != nil && realms.count > 1 ? FingerprintingConversation(conversation) : nil
            let report = await realm.login(
                LoginRequest(realm: realm.name, username: username, service: service, peer: peer),
                asking: fingerprinting ?? conversation,
                mayGrant: mayContinue && (reservation?.mayGrant(account) ?? true),
                cache: cache
            )
            if whenUnavailable == .stop, report.hidesOutage { mayContinue = false }
            attempts.append(RealmAttempt(account, report: report, guess: fingerprinting?.fingerprint))
            if report.identity != nil || (whenUnavailable == .stop && report.metOutage) { break }
        }
        await reservation?.settle(attempts)
        let reports = attempts.map(\.report)
        if let observer { for report in reports { observer.loginEnded(report) } }
        return reports
    }

    /// Logs a user out: calls ``LoginModule/logout(_:)`` of every module that the login reached.
    ///
    /// The modules are called even if the configuration has changed and the realm no longer exists.
    public func logout(_ identity: AuthenticatedIdentity) async -> LogoutReport { await identity.logout() }
}

extension AuthenticatedIdentity {
    /// Logs the user out, as ``Authenticator/logout(_:)`` does.
    package func logout() async -> LogoutReport { await record.stack.logout(self) }

    /// Returns true for the first call, so that ``LoginModule/logout(_:)`` is called only once.
    package func beginLogout() -> Bool { record.beginLogout() }

    /// Removes the notes of the modules, to save memory if an identity is kept for hours.
    package func forgetNotes() { record.forgetNotes() }
}

/// The result of a login in several realms: one report for each realm that was used.
public struct MultiRealmLoginReport: Sendable {
    /// The outcome of the login as a whole.
    public enum Outcome: Sendable {
        /// A realm accepted the user. The values are the identity and the report of this realm.
        case accepted(AuthenticatedIdentity, LoginReport)
        /// All realms refused the user. The value is the report of the last realm; nil if no realm was used.
        case rejected(LoginReport?)
        /// No realm accepted the user, and at least one realm was unavailable (503).
        ///
        /// The value is the report of the last unavailable realm; nil if there is no report. See
        /// ``LoginReport/isUnavailable``.
        case unavailable(LoginReport?)
    }

    /// The reports of the realms that were used, in order; only the last realm can have accepted the user.
    public let reports: [LoginReport]

    init(_ reports: [LoginReport]) { self.reports = reports }

    /// The outcome of the login.
    public var outcome: Outcome {
        if let last = reports.last, let identity = last.identity { return .accepted(identity, last) }
        if let unavailable = reports.last(where: { $0.isUnavailable }) { return .unavailable(unavailable) }
        return .rejected(reports.last)
    }

    /// The accepted user; nil if no realm has accepted the user.
    public var identity: AuthenticatedIdentity? { reports.last?.identity }
}

/// The reaction to a realm that is unavailable in a login that may use several realms.
public enum WhenUnavailable: String, Sendable, Hashable, CaseIterable {
    /// The next realm is used. It may accept another person of the same name.
    case `continue`
    /// No further realm is used, and the login fails as if the realm were the last one. A web client gets 503.
    case stop
}

/// An observer of logins, for example for metrics, which cannot change their results.
public protocol LoginObserver: Sendable {
    /// Tells the observer that a login in a realm has ended.
    ///
    /// It is called after the throttle has counted the attempt, and before the caller of the login gets the result. So
    /// it must not wait. If a login used several realms, it is called once for each of them. The user name and the
    /// address in the report are data of the client, and must not become labels of metrics.
    func loginEnded(_ report: LoginReport)
}
