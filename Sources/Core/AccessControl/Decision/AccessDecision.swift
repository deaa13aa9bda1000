// SPDX-License-Identifier: Apache-2.0

package import RealmKit
package import Sessions

/// The decision about a request.
package enum AccessDecision: Sendable {
    /// No rule matches the request.
    case noMatchingRule
    /// The rule allows all requests.
    case open
    /// The user is authenticated and authorized.
    case allowed(SignedInUser)
    /// 403: the user is not authorized; nil if the rule denies the client address or all requests.
    case forbidden(SignedInUser?)
    /// 401 or a redirect to the sign-in page: credentials are missing or were rejected.
    case challenge(Challenge, wasRejected: Bool)
    /// 403, because there is no challenge for certificates: the rule accepts only them, and the request has none that
    /// is accepted.
    case certificateNeeded
    /// 405, with the allowed methods: rules match the path, but no rule matches the method.
    case methodNotAllowed([String])
    /// 400, with the reason: the request is malformed.
    case malformed(String)
    /// 503: the realm is unavailable.
    case unavailable

    /// True if the request is not allowed, so that its line in the log has to name the rule.
    package var isRefusal: Bool {
        switch self {
        case .open, .allowed: false
        case .noMatchingRule, .forbidden, .challenge, .certificateNeeded, .methodNotAllowed, .malformed, .unavailable:
            true
        }
    }
}

/// A decision, with what its response and its line in the log need.
package struct AccessResult: Sendable {
    package var decision: AccessDecision
    /// The authentication before this request that the decision is based on; after a login, the cached credentials that
    /// decided after a rejected certificate.
    package var authentication: ExistingAuthentication?
    /// The rule that decides or, if the rules for the path are for other methods, one of these.
    package var rule: ProtectionRules.CompiledRule?

    package init(
        _ decision: AccessDecision,
        _ authentication: ExistingAuthentication? = nil,
        by rule: ProtectionRules.CompiledRule?
    ) {
        (self.decision, self.authentication, self.rule) = (decision, authentication, rule)
    }
}

/// An authentication that took place before this request.
package enum ExistingAuthentication: Sendable {
    case credentials(CredentialCache.Entry)
    /// The valid session of the request, and its token.
    case session(Session, OpaqueToken)

    package var user: SignedInUser {
        switch self {
        case .credentials(let entry): entry.user
        case .session(let session, _): session.user
        }
    }

    /// The cached responses that depend only on this authentication, and are removed together with it.
    package var responses: ResponseCache {
        switch self {
        case .credentials(let entry): entry.responses
        case .session(let session, _): session.responses
        }
    }
}
