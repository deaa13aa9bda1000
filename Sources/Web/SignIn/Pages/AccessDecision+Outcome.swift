// SPDX-License-Identifier: Apache-2.0

package import AccessControl
internal import Bytes
internal import RealmConfiguration
package import RealmKit

extension AccessDecision {
    /// The outcome of a decision: the request is passed on, or it gets a response.
    package enum Outcome: Sendable {
        /// The request is passed on.
        ///
        /// The user is nil if the rule allows all requests.
        case allowed(SignedInUser?)
        /// No rule matches, so the caller decides.
        case noMatchingRule
        /// The request gets this response.
        case response(StandardResponse)
    }

    /// Returns the outcome of a decision.
    ///
    /// Pages, forward authentication and middleware all use this function.
    ///
    /// - Parameters:
    ///   - links: The links to the sign-in page; nil if there is none.
    ///   - isSafe: True if the method of the request is safe.
    ///   - redirectsAfterRejectedCredentials: True if a browser with rejected credentials is also redirected to the
    ///     sign-in page.
    ///   - clientKind: The kind of the client.
    ///   - request: The parts of the request that determine the link to the sign-in page.
    /// - Returns: The outcome.
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
    /// Returns the path and query of the sign-in page.
    ///
    /// After the sign-in, the browser is redirected to the target.
    ///
    /// - Parameter target: A path and query, or a URL.
    /// - Returns: The path and query.
    package func signIn(returningTo target: String) -> String {
        "\(signIn)?return=\(PercentEncoding.encode(target))"
    }
}
