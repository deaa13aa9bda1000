// SPDX-License-Identifier: Apache-2.0

internal import RealmConfiguration
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
    /// 403: the user is not authorized.
    ///
    /// The user is nil if the rule denies the client address or all requests.
    case forbidden(SignedInUser?)
    /// 401 or a redirect to the sign-in page: credentials are missing or were rejected.
    case challenge(Challenge, wasRejected: Bool)
    /// 403: the rule accepts only client certificates, and the request has none that is accepted.
    ///
    /// There is no challenge for certificates, so the status is not 401.
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

/// The result of ``AccessController/evaluate(_:credentials:)``.
package enum Evaluation: Sendable {
    /// The decision, the existing authentication that it is based on, and the rule that decides; nil if there is none.
    ///
    /// If the rules for the path are for other methods, the rule is one of them.
    case decided(AccessDecision, ExistingAuthentication?, by: ProtectionRules.CompiledRule?)
    /// A realm must check the credentials: see ``AccessController/completeLogin(_:)``.
    case login(AccessController.Login)
}

/// An authentication that took place before this request.
package enum ExistingAuthentication: Sendable {
    /// The credentials of the request are in the credential cache.
    case credentials(CredentialCache.Entry)
    /// The request has a valid session.
    ///
    /// The token is the token of the request.
    case session(Session, OpaqueToken)

    /// The authenticated user.
    package var user: SignedInUser {
        switch self {
        case .credentials(let entry): entry.user
        case .session(let session, _): session.user
        }
    }

    /// The cached responses that depend only on this authentication.
    ///
    /// They are removed together with the session or the cached credentials.
    package var responses: ResponseCache {
        switch self {
        case .credentials(let entry): entry.responses
        case .session(let session, _): session.responses
        }
    }
}
