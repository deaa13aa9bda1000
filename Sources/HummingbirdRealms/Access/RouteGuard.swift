// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import AccessControl
internal import Bytes
internal import HTTPTypes
internal import HummingbirdCore
internal import Logging
internal import RealmConfiguration
internal import RealmKit
internal import Sessions
internal import SignIn

/// Authenticates the requests of an application, and decides whether they are allowed.
struct RouteGuard: Sendable {
    /// The result of a check.
    enum Finding: Sendable {
        /// The user is authenticated and allowed.
        case user(AuthenticatedUser)
        /// The request is allowed without a user.
        case open
        /// No rule matches the request.
        case noMatchingRule
        /// The request is answered at once, whatever the route requires.
        case stopped(Response)
        /// The request is not allowed.
        case rejected(Rejection)
    }

    /// An authenticated user.
    struct AuthenticatedUser: Sendable {
        let user: SignedInUser
        let authentication: ExistingAuthentication?

        /// The session; nil for credentials that come with each request.
        var session: Session? {
            guard case .session(let session, _) = authentication else { return nil }
            return session
        }

        /// The CSRF token for the forms of the session; nil without a session.
        var csrfToken: String? {
            guard case .session(_, let token) = authentication else { return nil }
            return CSRFToken.text(token)
        }

        /// Returns whether a text is ``csrfToken``, in a time that does not depend on the text.
        func isCSRFToken(_ text: String?) -> Bool {
            guard case .session(_, let token) = authentication else { return false }
            return CSRFToken.isValid(text.map { UTF8Text($0) }, for: token)
        }

        /// Returns whether the user meets one of some requirements, as in a rule of realms.conf.
        func meets(_ requirements: [ProtectRule.Requirement]) -> Bool {
            ProtectRule(path: "/", realms: [user.realm], schemes: [], requirements: requirements).allows(user)
        }
    }

    /// The rejection of a request.
    struct Rejection: Sendable {
        let access: RealmAccess
        let decision: AccessDecision
        let authentication: ExistingAuthentication?

        /// Returns the response.
        func response(to request: Request) -> Response {
            access.rejection(decision, of: request, for: authentication)
                ?? access.response(.forbidden(nil), to: request, for: authentication)
        }
    }

    let access: RealmAccess
    let accessController: AccessController
    /// True if the decision depends on the path and the host of a request.
    let usesPath: Bool
    let challenge: Challenge?

    /// Checks a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - peer: The address at the other end of the connection.
    ///   - isActivity: True if the request extends the idle time of its session.
    ///   - logger: The log of logins.
    /// - Returns: The result of the check.
    func check(_ request: Request, peer: String?, isActivity: Bool, logger: Logger) async -> Finding {
        guard let path = RequestPath(target: usesPath ? request.target : "/") else {
            return .stopped(access.response(.ambiguousPath, to: request))
        }
        let client: RequestClient
        switch access.client(of: request, peer: peer) {
        case .client(let found): client = found
        case .malformed(let reason): return .stopped(access.response(.malformed(reason), to: request))
        }
        guard !usesPath || hasOneHost(request) else {
            return .stopped(access.response(.malformed("the host is ambiguous"), to: request))
        }
        let accessRequest = AccessRequest(
            method: request.method.rawValue,
            path: path,
            fields: request,
            client: client,
            rules: accessController.rules,
            isActivity: isActivity
        )
        let evaluation = accessController.evaluate(accessRequest) {
            BasicScheme.read(request.headers.texts(of: .authorization))
        }
        switch evaluation {
        case .decided(let decision, let authentication):
            return finding(decision, authentication, request: request, path: path, client: client)
        case .login(let login):
            let (decision, report) = await accessController.completeLogin(login)
            if let report { RealmAccess.note(report, in: logger) }
            return finding(decision, nil, request: request, path: path, client: client)
        }
    }

    /// Returns the rejection of a request that does not meet a requirement of its route.
    ///
    /// It is a 403 for a user, and a challenge without one.
    ///
    /// - Parameter user: The user; nil for a request that is not authenticated.
    /// - Returns: The rejection of a request that does not meet a requirement of its route.
    func rejection(of user: AuthenticatedUser?) -> Rejection {
        let decision: AccessDecision =
            if let user {
                .forbidden(user.user)
            } else if let challenge {
                .challenge(challenge, wasRejected: false)
            } else {
                .forbidden(nil)
            }
        return Rejection(access: access, decision: decision, authentication: user?.authentication)
    }

    private func finding(
        _ decision: AccessDecision,
        _ authentication: ExistingAuthentication?,
        request: Request,
        path: RequestPath,
        client: RequestClient
    ) -> Finding {
        switch decision {
        case .allowed(let user):
            guard !access.isForged(request, path: path, client: client) else {
                return .stopped(access.forged(request))
            }
            return .user(AuthenticatedUser(user: user, authentication: authentication))
        case .open: return .open
        case .noMatchingRule: return .noMatchingRule
        case .malformed(let reason): return .stopped(access.response(.malformed(reason), to: request))
        case .challenge, .forbidden, .methodNotAllowed, .unavailable:
            return .rejected(Rejection(access: access, decision: decision, authentication: authentication))
        }
    }

    /// Returns whether a request target that is a URL names the host of the request.
    ///
    /// If the two differed, a rule could match the one host, and the application use the other.
    private func hasOneHost(_ request: Request) -> Bool {
        guard let url = RequestURL(request.target) else { return true }
        return url.authority.utf8Span.span.equalsIgnoringCase(request.hostText.utf8Span.span)
    }
}
