// SPDX-License-Identifier: Apache-2.0

package import AccessControl
internal import Bytes
internal import OpenSSLKit
internal import Sessions

/// The links from protected pages to the sign-in page.
package struct SignInLinks: Sendable {
    package let routes: Routes
    /// The sign-in host and the hosts that share it; nil if each host has its own sign-in page.
    package let hosts: SignInHosts?

    /// The path of the sign-in page, or its URL if there is a sign-in host.
    package var page: String { (hosts?.origin.description ?? "") + routes.signIn }

    package init(routes: Routes, hosts: SignInHosts? = nil) {
        self.routes = routes
        self.hosts = hosts
    }

    /// The parts of a request that determine its link.
    package struct LinkRequest {
        /// The path and query to return to after the sign-in.
        let target: String
        let authority: String
        let cookies: OurCookies
        /// True if an earlier hand-over to this target has failed.
        let isRetry: Bool

        package init(_ target: String, at authority: String, cookies: OurCookies, isRetry: Bool = false) {
            (self.target, self.authority, self.cookies, self.isRetry) = (target, authority, cookies, isRetry)
        }
    }

    package enum Result {
        case link(SignInLink)
        /// The host, by its name for the log and the page, does not share the sign-in host.
        case unknownHost(String)
        /// No random bytes could be generated.
        case unavailable
    }

    /// If there is a sign-in host, the link contains a challenge, and the browser gets the cookie with its verifier.
    ///
    /// A code that the sign-in host issues for the challenge is of use only to this browser (RFC 7636).
    package func link(from request: LinkRequest) -> Result {
        guard let hosts else {
            // A longer target would be rejected after the sign-in. Many proxies also reject such long URLs.
            let isUsable = ReturnTarget.hasUsableLength(request.target)
            let path = isUsable ? routes.signIn(returningTo: request.target) : routes.signIn
            return .link(SignInLink(origin: nil, path: path, cookie: nil))
        }
        guard let host = RequestHost(request.authority) else { return .unknownHost(request.authority) }
        let origin = SignInSettings.Origin(host)
        if origin == hosts.origin { return SignInLinks(routes: routes).link(from: request) }
        guard hosts.contains(origin) else { return .unknownHost(origin.description) }
        do throws(OpenSSLError) {
            var cookie: String?
            let verifier: OpaqueToken
            // Two tabs may use the same verifier, so that neither invalidates the link of the other.
            if case .token(let token) = request.cookies.verifier {
                verifier = token
            } else {
                verifier = try OpaqueToken()
                cookie = SetCookie.verifier(verifier)
            }
            let target = origin.description + request.target
            let destination = Destination(
                target: ReturnTarget.hasUsableLength(target) ? target : origin.description + "/",
                challenge: try Destination.challenge(of: verifier),
                isRetry: request.isRetry
            )
            let path = "\(routes.signIn)?\(destination.query)"
            return .link(SignInLink(origin: hosts.origin.description, path: path, cookie: cookie))
        } catch {
            return .unavailable
        }
    }
}

/// A link to the sign-in page.
package struct SignInLink: Sendable, Hashable {
    /// The origin of the sign-in host; nil if the page is at the host of the request.
    let origin: String?
    let path: String
    package let cookie: String?

    package var location: String { (origin ?? "") + path }

    /// Returns the link as a URL, for the host and port of the request.
    package func url(from host: String) -> String { (origin ?? "https://\(host)") + path }
}

/// The place that a browser goes to after a sign-in.
struct Destination: Sendable, Hashable {
    /// The target to return to, as received; nil for the default.
    ///
    /// It is checked each time it is used; see ``ReturnTarget``.
    var target: String?
    /// The challenge of the host of the target, if that host expects a hand-over; see ``challenge(of:)``.
    var challenge: Digest?
    /// True if an earlier hand-over to this target has failed.
    var isRetry = false

    /// The fields of a query that ``init(_:)`` reads.
    var query: String {
        var fields: [String] = []
        if let target { fields.append("return=\(PercentEncoding.encode(target))") }
        if let challengeText { fields.append("challenge=\(challengeText)") }
        if isRetry { fields.append("retry=1") }
        return fields.joined(separator: "&")
    }

    /// Returns the challenge of the verifier in the cookie of a hand-over.
    ///
    /// A code is issued for a challenge, and can be redeemed only with the verifier, from which the challenge is
    /// computed again (RFC 7636 section 4.2).
    static func challenge(of verifier: OpaqueToken) throws(OpenSSLError) -> Digest {
        try verifier.proof(for: "gatehouse hand-over")
    }

    var challengeText: String? { challenge.map { $0.withBytes { Base64.url.encode($0) } } }

    static func challenge(_ text: String) -> Digest? {
        Base64.url.decode(text.utf8Span.span).flatMap { Digest(bytes: $0) }
    }
}

extension Destination {
    /// Reads the fields `return`, `challenge` and `retry` of a query.
    init(_ query: FormFields?) {
        target = query?.textIfValid("return")?.string
        challenge = query?.textIfValid("challenge").flatMap { Self.challenge($0.string) }
        isRetry = query?.textIfValid("retry") == "1"
    }
}
