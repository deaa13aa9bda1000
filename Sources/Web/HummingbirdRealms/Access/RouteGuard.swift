// SPDX-License-Identifier: Apache-2.0

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
    enum CheckResult: Sendable {
        case user(AuthenticatedUser)
        /// The request is allowed without a user.
        case open
        case noMatchingRule
        /// The request gets this response on every route, also on a route that needs no user.
        case answered(Response)
        case rejected(Rejection)
    }

    struct AuthenticatedUser: Sendable {
        let user: SignedInUser
        let authentication: ExistingAuthentication?

        /// The session; nil if credentials authenticated the request.
        var session: Session? {
            guard case .session(let session, _) = authentication else { return nil }
            return session
        }

        /// The CSRF token for the forms of the session; nil without a session.
        var csrfToken: String? {
            guard case .session(_, let token) = authentication else { return nil }
            return CSRFToken.text(token)
        }

        /// Returns whether a text is equal to ``csrfToken``; the comparison takes the same time for every text.
        func isCSRFToken(_ text: String?) -> Bool {
            guard case .session(_, let token) = authentication else { return false }
            return CSRFToken.isValid(text.map { UTF8Text($0) }, for: token)
        }
    }

    struct Rejection: Sendable {
        let access: RealmAccess
        let decision: AccessDecision
        /// The client; nil if only the fields of the request are known.
        let client: RequestClient?
        let authentication: ExistingAuthentication?

        func response(to request: Request) -> Response {
            access.rejection(decision, of: request, from: client, for: authentication)
                ?? access.response(.forbidden(nil, target: ""), to: request, for: authentication)
        }
    }

    let access: RealmAccess
    let accessController: AccessController
    /// True if the rules depend on the host and path of the request; false if one rule applies to all requests.
    let usesPath: Bool
    let challenge: Challenge?

    /// Checks a request; `isActivity` is true if it extends the idle time of its session.
    func check(
        _ request: Request,
        from connection: ClientConnection,
        isActivity: Bool,
        logger: Logger
    ) async -> CheckResult {
        guard let path = RequestPath(target: usesPath ? request.target : "/") else {
            return .answered(access.response(.ambiguousPath, to: request))
        }
        let client: RequestClient
        switch access.client(of: request, from: connection) {
        case .client(let found): client = found
        case .refused(let refusal): return .answered(access.response(refusal, to: request))
        }
        guard !usesPath || hasOneHost(request) else {
            return .answered(access.response(.malformed("the host is ambiguous"), to: request))
        }
        let accessRequest = AccessRequest(
            method: request.method.rawValue,
            path: path,
            fields: request,
            client: client,
            rules: accessController.rules,
            isActivity: isActivity
        )
        let result: AccessResult
        var report: LoginReport?
        switch accessController.decide(
            accessRequest,
            credentials: { BasicScheme.read(request.headers.texts(of: .authorization)) }
        ) {
        case .now(let decided): result = decided
        case .afterLogin(let login):
            let completed = await accessController.complete(login)
            (result, report) = (completed.result, completed.report)
        }
        let log = RequestLog(logger: logger)
        let isLoginRefused = report?.refusal != nil
        if let report {
            log.logLogin(report, rule: usesPath && isLoginRefused ? LogText.rule(result.rule?.rule) : "")
        }
        // Without paths, the rule is not one of realms.conf, and the route may need no user. ProtectedByRules decides about
        // requests that no rule matches. The line of a rejected login names the rule already.
        if usesPath, result.decision.isRefusal, result.rule != nil, !isLoginRefused {
            log.logRefusal(of: request, after: result, address: client.address)
        }
        switch result.decision {
        case .allowed(let user):
            guard !access.isCrossOriginChange(request, client: client) else {
                log.logCrossOrigin(request, user: user, address: client.address)
                return .answered(access.response(.crossOrigin, to: request))
            }
            return .user(AuthenticatedUser(user: user, authentication: result.authentication))
        case .open: return .open
        case .noMatchingRule: return .noMatchingRule
        case .malformed(let reason): return .answered(access.response(.malformed(reason), to: request))
        case .challenge, .forbidden, .certificateNeeded, .methodNotAllowed, .unavailable:
            let rejection = Rejection(
                access: access,
                decision: result.decision,
                client: client,
                authentication: result.authentication
            )
            return .rejected(rejection)
        }
    }

    /// Returns the rejection of a request that does not meet the requirements of its route.
    ///
    /// It is 403 if there is a user, or if no challenge is configured; otherwise a challenge.
    func rejection(of user: AuthenticatedUser?) -> Rejection {
        let decision: AccessDecision =
            if let user {
                .forbidden(user.user)
            } else if let challenge {
                .challenge(challenge, wasRejected: false)
            } else {
                .forbidden(nil)
            }
        return Rejection(access: access, decision: decision, client: nil, authentication: user?.authentication)
    }

    /// Returns whether the request has a single host.
    ///
    /// If the request target is a URL, it contains a host too. If that host differed from the `Host` field, a rule
    /// could match one host, and the application could use the other host.
    private func hasOneHost(_ request: Request) -> Bool {
        guard let url = RequestURL(request.target) else { return true }
        return url.authority.utf8Span.span.equalsIgnoringCase(request.hostText.utf8Span.span)
    }
}
