// SPDX-License-Identifier: Apache-2.0
// Gatehouse

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
    /// The rule denies the client's address, or the user is authenticated and not authorized: 403.
    case forbidden(SignedInUser?)
    /// Credentials are missing, or were rejected: 401 or a redirect to the sign-in page.
    case challenge(Challenge, wasRejected: Bool)
    /// Rules match the path, and none matches the method: 405, with the methods that are allowed.
    case methodNotAllowed([String])
    /// The request cannot be decided about: 400, with the reason.
    case malformed(String)
    /// The realm is unavailable: 503.
    case unavailable
}

/// The result of ``AccessController/evaluate(_:credentials:)``.
package enum Evaluation: Sendable {
    /// The decision, and the earlier authentication that it is based on, if there is one.
    case decided(AccessDecision, ExistingAuthentication?)
    /// The credentials have to be checked by a realm: see ``AccessController/completeLogin(_:)``.
    case login(AccessController.Login)
}

/// An authentication that took place before this request.
package enum ExistingAuthentication: Sendable {
    /// The credentials of the request are in the credential cache.
    case credentials(CredentialCache.Entry)
    /// The request has a valid session; the token is the one it presented.
    case session(Session, OpaqueToken)

    /// The authenticated user.
    package var user: SignedInUser {
        switch self {
        case .credentials(let entry): entry.user
        case .session(let session, _): session.user
        }
    }

    /// Responses that depend on nothing but this authentication; they are evicted with it.
    package var responses: ResponseCache {
        switch self {
        case .credentials(let entry): entry.responses
        case .session(let session, _): session.responses
        }
    }
}
