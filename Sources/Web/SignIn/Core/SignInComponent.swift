// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
internal import RealmConfiguration
internal import RealmKit
internal import Sessions
internal import Throttle

/// A part of the sign-in, such as the account page.
///
/// All parts use the functions of its extensions.
protocol SignInComponent: Sendable {
    var site: SignInSite { get }
}

extension SignInComponent {
    var settings: SignInSettings { site.settings }
    var rules: ProtectionRules { site.rules }
    var authenticator: Authenticator { site.authenticator }
    var state: SignInState { site.state }
    var context: PageContext { site.context }
    var routes: Routes { site.context.routes }
    /// The sign-in host and the hosts that share it; nil if there is no sign-in host.
    var hosts: SignInHosts? { site.context.links.hosts }
    var sessions: SessionTable { site.state.sessions }
    var realms: [String] { site.realms }

    // MARK: Sessions

    /// Applies all changes of a realm's users up to now; false if the check of the realm took too long.
    func settleChanges(of realm: String) async -> Bool { await site.refresher.refresh(realm) }

    func end(_ session: Session, cause: SessionEndCause) async -> Bool { await end([session], cause: cause) }

    /// Ends several sessions at once; false if an end is not stored.
    ///
    /// They have ended, but may be valid again after a restart, which the response must report.
    func end(_ ended: [Session], cause: SessionEndCause) async -> Bool {
        do throws(SessionFault) {
            try await sessions.end(ended, cause: cause)
            return true
        } catch {
            for session in ended { state.log.logUnstoredEnd(session) }
            return false
        }
    }

    /// Returns the sessions of all session cookies of a request, each once, and their tokens.
    ///
    /// There are several if a script of the host has added a partitioned cookie. Then none of them authenticates the
    /// user, but a sign-out and another sign-in must end them all.
    func presentedSessions(
        _ request: WebRequest,
        includesUnstoredEnds: Bool = false
    ) -> [(session: Session, token: OpaqueToken)] {
        guard let host = request.host else { return [] }
        var tokens = request.client.repeatedSessions ?? []
        if case .token(let token) = request.cookies.session { tokens = [token] }
        var presented: [(session: Session, token: OpaqueToken)] = []
        for token in tokens {
            guard
                let session = sessions.session(token, at: host, isActivity: false)
                    ?? (includesUnstoredEnds ? sessions.unstoredEnd(token, at: host) : nil),
                !presented.contains(where: { $0.session === session })
            else { continue }
            presented.append((session, token))
        }
        return presented
    }

    /// Ends the earlier sessions of a browser that has signed in again, because they may belong to another user; false
    /// if an end is not stored.
    func endEarlierSessions(_ request: WebRequest, except kept: Session? = nil) async -> Bool {
        let ended = presentedSessions(request).map(\.session.signIn).filter { $0 !== kept }
        return ended.isEmpty ? true : await end(ended, cause: .replaced)
    }

    /// Returns the valid session of a request and its token.
    func session(_ request: WebRequest, isActivity: Bool) -> (session: Session, token: OpaqueToken)? {
        guard case .token(let token) = request.cookies.session, let host = request.host,
            let session = sessions.session(token, at: host, isActivity: isActivity)
        else { return nil }
        return (session, token)
    }

    /// Returns all sessions of a session's user, the most recently used first.
    func userSessions(of session: Session) -> [Session] {
        sessions.sessions(of: session.user).sorted { ($0.lastSeen, $0.created) > ($1.lastSeen, $1.created) }
    }

    /// Returns the sessions that the user of a session may end, also those whose end is not stored, so that a client
    /// can repeat its request after a 503.
    func endable(by session: Session) -> [Session] {
        userSessions(of: session) + sessions.unstoredEnds(of: session.user)
    }

    /// Parses a return target; nil if the target is not allowed.
    func target(_ text: String?, request: WebRequest) -> ReturnTarget? {
        guard let text, let host = RequestHost(request.authority) else { return nil }
        return ReturnTarget(text, at: SignInSettings.Origin(host), settings, sharing: hosts)
    }
}

/// The settings, rules and state that all parts of the sign-in use.
struct SignInSite: Sendable {
    let settings: SignInSettings
    let rules: ProtectionRules
    let authenticator: Authenticator
    let state: SignInState
    let context: PageContext
    let refresher: RealmRefresher
    /// The number of reloads that led to this configuration.
    ///
    /// After a further one, a login that this site began creates a session only if the realm is unchanged.
    let generation: Int
    /// The names of the realms in which users log in if no rule names other realms.
    let realms: [String]
    /// Whether the next of these realms is used if a realm is unavailable.
    let whenUnavailable: WhenUnavailable
    /// The time for which failed logins lock an account, in minutes; nil if they lock none.
    let lockMinutes: Int?

    init(
        _ configuration: Configuration,
        rules: ProtectionRules,
        authenticator: Authenticator,
        state: SignInState,
        refresher: RealmRefresher,
        context: PageContext,
        generation: Int
    ) {
        settings = configuration.server.signIn
        self.rules = rules
        self.authenticator = authenticator
        self.state = state
        self.refresher = refresher
        self.context = context
        self.generation = generation
        let throttle = configuration.server.throttle
        lockMinutes = throttle.failures > 0 ? Int((throttle.lock / .seconds(60)).rounded(.up)) : nil
        let rule = configuration.rules.first { $0.schemes.contains(.form) }
        if !settings.realms.isEmpty {
            realms = settings.realms
            whenUnavailable = settings.whenUnavailable ?? .continue
        } else if let realm = configuration.defaultRealm {
            realms = [realm]
            whenUnavailable = settings.whenUnavailable ?? .continue
        } else {
            realms = rule?.realms ?? []
            whenUnavailable = settings.whenUnavailable ?? rule?.whenUnavailable ?? .continue
        }
    }
}
