// SPDX-License-Identifier: Apache-2.0

package import AccessControl
package import RealmKit

/// A response that is not rendered yet.
///
/// The server's own pages, forward authentication and the middleware use the same standard responses.
package enum StandardResponse: Sendable, Hashable {
    /// The list of protected paths.
    case index
    /// The server is running.
    case health
    /// A style sheet, a script or an image.
    case asset(PageAsset)
    /// The welcome page: for an allowed request, if the server has no other page at the path.
    case welcome(SignedInUser)
    /// 403, with the user and the target of the request; the user is nil if the rule denies the client address or all
    /// requests.
    case forbidden(SignedInUser?, target: String)
    /// 403: the rule accepts only client certificates, and the request has none that is accepted.
    case certificateNeeded
    /// 401 (Unauthorized).
    case unauthorized(Challenge, wasRejected: Bool)
    /// A redirect to the sign-in page.
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
    /// The link to the sign-in page.
    package let link: SignInLink
    /// The challenge, for a proxy that needs a response with status 401.
    package let challenge: Challenge
    /// True if the method of the request is safe, so that the browser may repeat the request.
    package let isSafe: Bool
}
