// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import RealmKit
internal import Sessions

/// The sessions of a request, and their end.
extension SignIn {
    /// Returns the valid session of a request and its token.
    func session(_ request: WebRequest, isActivity: Bool) -> (session: Session, token: OpaqueToken)? {
        guard case .token(let token) = request.cookies.session, let host = request.host,
            let session = sessions.session(token, at: host, isActivity: isActivity)
        else { return nil }
        return (session, token)
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

    /// Returns all sessions of a session's user, the most recently used first.
    func userSessions(of session: Session) -> [Session] {
        sessions.sessions(of: session.user).sorted { ($0.lastSeen, $0.created) > ($1.lastSeen, $1.created) }
    }

    /// Returns the sessions that the user of a session may end, also those whose end is not stored, so that a client
    /// can repeat its request after a 503.
    func endable(by session: Session) -> [Session] {
        userSessions(of: session) + sessions.unstoredEnds(of: session.user)
    }

    /// Ends sessions; false if an end is not stored.
    ///
    /// They have ended, but may be valid again after a restart, which the response must report.
    func end(_ ended: [Session], cause: SessionEndCause) async -> Bool {
        do throws(SessionFault) {
            try await sessions.end(ended, cause: cause)
            return true
        } catch {
            for session in ended { service.log.logUnstoredEnd(session) }
            return false
        }
    }

    /// Ends the earlier sessions of a browser that has signed in again, because they may belong to another user; false
    /// if an end is not stored.
    func endEarlierSessions(_ request: WebRequest, except kept: Session? = nil) async -> Bool {
        let ended = presentedSessions(request).map(\.session.signIn).filter { $0 !== kept }
        return ended.isEmpty ? true : await end(ended, cause: .replaced)
    }
}
