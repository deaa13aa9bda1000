// SPDX-License-Identifier: Apache-2.0

package import AccessControl
internal import Bytes
package import RealmKit

/// A response that is not rendered yet, the same for the server's own pages, forward authentication and the middleware.
package enum StandardResponse: Sendable, Hashable {
    case index
    case health
    case asset(PageAsset)
    /// The welcome page: for an allowed request, if the server has no other page at the path.
    case welcome(SignedInUser)
    /// 403, with the user and the target of the request; the user is nil if the rule denies the client address or all
    /// requests.
    case forbidden(SignedInUser?, target: String)
    /// 403: the rule accepts only client certificates, and the request has none that is accepted.
    case certificateNeeded
    /// 403: a page of another site has sent the request.
    case crossOrigin
    case unauthorized(Challenge, wasRejected: Bool)
    /// A redirect of a browser to the sign-in page, after which it may repeat the request if its method is safe; the
    /// challenge is for a proxy that needs a response with status 401.
    case signIn(SignInLink, Challenge, isSafe: Bool)
    case misdirected
    /// 400: the path can be read in more than one way.
    case ambiguousPath
    /// 400, with the reason.
    case malformed(String)
    case notFound
    case methodNotAllowed([String])
    case unavailable

    /// The safe methods (RFC 9110 section 9.2.1) that pages accept.
    package static let safeMethods = ["GET", "HEAD"]
}

extension AccessDecision {
    /// Returns the response to a request that is not allowed, for pages, forward authentication and middleware.
    ///
    /// Nil if the request is passed on, and if no rule matches, so that the caller decides.
    package func standardResponse(
        signInBy links: @autoclosure () -> SignInLinks?,
        isSafe: Bool,
        redirectsAfterRejectedCredentials: Bool = false,
        clientKind: @autoclosure () -> ClientKind,
        request: @autoclosure () -> SignInLinks.LinkRequest
    ) -> StandardResponse? {
        switch self {
        case .allowed, .open, .noMatchingRule: return nil
        case .forbidden(let user): return .forbidden(user, target: user == nil ? "" : request().target)
        case .certificateNeeded: return .certificateNeeded
        case .malformed(let reason): return .malformed(reason)
        case .unavailable: return .unavailable
        case .methodNotAllowed(let allowed): return .methodNotAllowed(allowed)
        case .challenge(let challenge, let wasRejected):
            let kind = clientKind()
            // A browser is redirected only if the form is the first scheme.
            let mayRedirect = !wasRejected || redirectsAfterRejectedCredentials
            guard let links = links(), challenge.schemes.first == .form, kind == .navigation, mayRedirect else {
                return .unauthorized(kind == .script ? challenge.forScripts : challenge, wasRejected: wasRejected)
            }
            switch links.link(from: request()) {
            case .link(let link): return .signIn(link, challenge, isSafe: isSafe)
            case .unknownHost(let host): return .malformed("\(host) does not share the sign-in host")
            case .unavailable: return .unavailable
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
