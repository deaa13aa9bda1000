// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import AccessControl
internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
internal import RealmConfiguration
internal import RealmKit
internal import Sessions

/// A part of the sign-in; all parts have a site and the functions of the extensions in common.
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
    var sessions: SessionTable { site.state.sessions }
    var realms: [String] { site.realms }

    // MARK: Sessions

    /// Applies the changes of a realm's users up to now; returns false if that took too long.
    func settleChanges(of realm: String) async -> Bool { await site.refresher.refresh(realm) }

    /// Ends a session.
    ///
    /// - Returns: False if it has ended, but may be valid again after a restart: the response reports that.
    func end(_ session: Session, cause: SessionEnd) async -> Bool { await end([session], cause: cause) }

    /// Ends sessions, all at once.
    ///
    /// - Returns: False if they have ended, but one may be valid again after a restart.
    func end(_ ended: [Session], cause: SessionEnd) async -> Bool {
        do throws(SessionFault) {
            try await sessions.end(ended, cause: cause)
            return true
        } catch {
            for session in ended { state.noteUnstoredEnd(session) }
            return false
        }
    }

    /// Returns the session of a request that has ended, if its end is not stored.
    func unsettledEnd(_ request: WebRequest) -> Session? {
        guard case .token(let token) = request.cookies.session, let host = request.host else { return nil }
        return sessions.unsettledEnd(token, at: host)
    }

    /// Returns the session of a request, with its token.
    func session(_ request: WebRequest, isActivity: Bool) -> (session: Session, token: OpaqueToken)? {
        guard case .token(let token) = request.cookies.session, let host = request.host,
            let session = sessions.session(token, at: host, isActivity: isActivity)
        else { return nil }
        return (session, token)
    }

    /// Returns the sessions of a session's user, the last used first.
    func own(_ session: Session) -> [Session] {
        sessions.sessions(of: session.user).sorted { ($0.lastSeen, $0.created) > ($1.lastSeen, $1.created) }
    }

    /// Returns the sessions that a session's user may end, with the ended ones whose end is not stored.
    ///
    /// A repeated request after a 503 finds those.
    func endable(by session: Session) -> [Session] {
        own(session) + sessions.unsettledEnds(of: session.user)
    }

    /// Returns the target that a text names, if users may be sent there.
    func target(_ text: String?, request: WebRequest) -> ReturnTarget? {
        guard let text else { return nil }
        guard let host = RequestHost(request.authority) else { return nil }
        let own = SignInSettings.Origin(host: host.name, port: host.port.map(Int.init) ?? 443)
        return ReturnTarget(text, at: own, settings)
    }
}
