// SPDX-License-Identifier: Apache-2.0

package import AccessControl
internal import Bytes
internal import RealmConfiguration
package import RealmKit

/// A response that is not rendered yet, the same for the server's own pages, forward authentication and the middleware.
package enum StandardResponse: Sendable, Hashable {
    /// The list of protected paths.
    case index
    /// The server is running.
    case health
    case asset(PageAsset)
    /// The welcome page: for an allowed request, if the server has no other page at the path.
    case welcome(SignedInUser)
    /// 403, with the user and the target of the request; the user is nil if the rule denies the client address or all
    /// requests.
    case forbidden(SignedInUser?, target: String)
    /// 403: the rule accepts only client certificates, and the request has none that is accepted.
    case certificateNeeded
    case unauthorized(Challenge, wasRejected: Bool)
    case signIn(SignInRedirect)
    /// 421 (Misdirected Request).
    case misdirected
    /// 400: the path can be read in more than one way.
    case ambiguousPath
    /// 400, with the reason.
    case malformed(String)
    case notFound
    /// 405, with the methods that are allowed.
    case methodNotAllowed([String])
    /// 503: a realm is unavailable.
    case unavailable

    /// The safe methods (RFC 9110 section 9.2.1) that pages accept.
    package static let safeMethods = ["GET", "HEAD"]
}

/// A redirect of a browser to the sign-in page.
package struct SignInRedirect: Sendable, Hashable {
    package let link: SignInLink
    /// The challenge, for a proxy that needs a response with status 401.
    package let challenge: Challenge
    /// True if the method of the request is safe, so that the browser may repeat the request.
    package let isSafe: Bool
}

extension AccessDecision {
    /// The outcome of a decision: the request is passed on, or it gets a response.
    package enum Outcome: Sendable {
        /// The request is passed on; the user is nil if the rule allows all requests.
        case allowed(SignedInUser?)
        /// No rule matches, so the caller decides.
        case noMatchingRule
        case response(StandardResponse)
    }

    /// Returns the outcome of a decision, for pages, forward authentication and middleware.
    package func outcome(
        signInBy links: @autoclosure () -> SignInLinks?,
        isSafe: Bool,
        redirectsAfterRejectedCredentials: Bool = false,
        clientKind: @autoclosure () -> ClientKind,
        request: @autoclosure () -> SignInLinks.Requested
    ) -> Outcome {
        switch self {
        case .allowed(let user): return .allowed(user)
        case .open: return .allowed(nil)
        case .noMatchingRule: return .noMatchingRule
        case .forbidden(let user):
            return .response(.forbidden(user, target: user == nil ? "" : request().target))
        case .certificateNeeded: return .response(.certificateNeeded)
        case .malformed(let reason): return .response(.malformed(reason))
        case .unavailable: return .response(.unavailable)
        case .methodNotAllowed(let allowed): return .response(.methodNotAllowed(allowed))
        case .challenge(let challenge, let wasRejected):
            let kind = clientKind()
            // A browser is redirected only if the form is the first scheme.
            let mayRedirect = !wasRejected || redirectsAfterRejectedCredentials
            guard let links = links(), challenge.schemes.first == .form, kind == .navigation, mayRedirect else {
                let challenge = kind == .script ? challenge.forScripts : challenge
                return .response(.unauthorized(challenge, wasRejected: wasRejected))
            }
            switch links.link(from: request()) {
            case .link(let link):
                return .response(.signIn(SignInRedirect(link: link, challenge: challenge, isSafe: isSafe)))
            case .unknownHost(let host): return .response(.malformed("\(host) does not share the sign-in host"))
            case .unavailable: return .response(.unavailable)
            }
        }
    }
}

extension Routes {
    /// Returns the path and query of the sign-in page, after which the browser is redirected to a path and query, or a
    /// URL.
    package func signIn(returningTo target: String) -> String {
        "\(signIn)?return=\(PercentEncoding.encode(target))"
    }
}
