// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import HTTPServer
internal import HTTPTypes
internal import NIOCore
internal import OpenSSLKit
internal import RealmConfiguration
internal import RealmKit
internal import Sessions
internal import SignIn

/// Makes the responses to forward-auth requests.
///
/// A response states whether the proxy may pass the original request on to the application.
///
/// Each proxy gets only statuses that it understands. nginx treats every status except 2xx, 401 and 403 as an error,
/// which is right for 503 only. Envoy can be configured to allow a request after a 5xx. An ambiguous request is denied.
struct ForwardAuth: Sendable {
    struct Check: Sendable {
        let proxy: ForwardAuthProxy
        let original: OriginalRequest
        let clientKind: ClientKind
        let representation: Representation
        let cookies: OurCookies
        /// True if the proxy requests the page for a check that was refused.
        var isPage = false
        /// The form of the identity fields for the application.
        var encoding = ProtectRule.IdentityFieldEncoding.percent
    }

    private let signIn: SignIn
    /// Nil if applications get no identity tokens.
    private let tokens: IdentityTokenSource?
    private var context: PageContext { signIn.context }

    init(_ signIn: SignIn, tokens: IdentityTokenSource? = nil) {
        self.signIn = signIn
        self.tokens = tokens
    }

    /// Returns the encoded response; that of an allowed request is cached with the authentication for later requests.
    func prepared(
        _ decision: AccessDecision,
        for check: Check,
        authentication: ExistingAuthentication?
    ) -> PreparedResponse {
        func make(at time: Int? = nil) -> PreparedResponse {
            PreparedResponse(rendered(decision, for: check, authentication: authentication, at: time))
        }
        guard case .allowed = decision, !check.isPage, let authentication else { return make() }
        let response: PersonalResponse =
            switch (check.proxy == .envoy, check.encoding) {
            case (false, .percent): .identity
            case (false, .utf8): .identityUTF8
            case (true, .percent): .envoyIdentity
            case (true, .utf8): .envoyIdentityUTF8
            }
        guard let tokens else {
            // The response has no text, so it is the same in all languages.
            let key = context.key(of: response, in: 0)
            return authentication.responses.response(for: key) { make() }
        }
        let (host, now) = (check.original.host.name, tokens.now)
        let cached = authentication.responses.response(
            for: context.key(of: response, at: host),
            isCurrent: { (cached: TokenResponse) in cached.isCurrent(for: host, at: now) },
            make: { TokenResponse(make(at: now), for: host, at: now) }
        )
        return cached.response
    }

    /// Returns the response; `time` is that of the identity token in seconds since 1970, nil for the present time.
    private func rendered(
        _ decision: AccessDecision,
        for check: Check,
        authentication: ExistingAuthentication?,
        at time: Int? = nil
    ) -> RenderedResponse {
        let original = check.original
        if case .noMatchingRule = decision { return denial("no rule matches", as: check.representation) }
        let response = decision.standardResponse(
            signInBy: context.links,
            isSafe: original.method == "GET" || original.method == "HEAD",
            redirectsAfterRejectedCredentials: true,
            clientKind: check.clientKind,
            request: .init(original.target, at: original.host.text, cookies: check.cookies)
        )
        if let response { return rendered(response, for: check, authentication: authentication) }
        // The client would get an empty page. nginx has denied the request itself, or the decision is new.
        guard !check.isPage else {
            return denial("the proxy denies it, or the decision has just changed", as: check.representation)
        }
        let user: SignedInUser? = if case .allowed(let user) = decision { user } else { nil }
        // A session authenticates by its cookie. Any other authentication uses the `Authorization` field.
        let hasCredentials = if case .session = authentication { false } else { user != nil }
        var token = ""
        if let user, let tokens {
            do throws(OpenSSLError) {
                token = try tokens.token(for: user, at: original.host, time: time ?? tokens.now)
            } catch {
                return rendered(.unavailable, for: check, authentication: authentication)
            }
        }
        let identity = IdentityHeaders(user, token: token, encoding: check.encoding)
        return allowed(identity, proxy: check.proxy, hasCredentials: hasCredentials)
    }

    /// Returns the response to an allowed request, with the header fields of the user.
    ///
    /// Empty fields are also sent. The proxy then overwrites fields of the same name from the client (CVE-2026-30851).
    private func allowed(
        _ identity: IdentityHeaders,
        proxy: ForwardAuthProxy,
        hasCredentials: Bool
    ) -> RenderedResponse {
        var headers: HTTPFields = [.cacheControl: "no-store"]
        for (name, value) in zip(IdentityHeaders.names, identity.values) { headers[name] = value }
        if proxy == .envoy {
            // Envoy ignores empty fields, so their names are listed for removal. `Authorization` is also removed,
            // because the application must not get a password that Gatehouse has checked.
            let empty = zip(IdentityHeaders.names, identity.values).filter { $1.isEmpty }.map(\.0.canonicalName)
            let removed = empty + (hasCredentials ? ["authorization"] : [])
            if !removed.isEmpty { headers[.envoyRemoved] = removed.joined(separator: ",") }
        }
        return RenderedResponse(.ok, headers)
    }

    /// Returns a standard response, with a status that the proxy understands.
    private func rendered(
        _ standard: StandardResponse,
        for check: Check,
        authentication: ExistingAuthentication?
    ) -> RenderedResponse {
        switch standard {
        case .signIn(let link, let challenge, let isSafe):
            return signIn(at: link, challenge, isSafe: isSafe, for: check)
        case .unauthorized(let challenge, _): return unauthorized(challenge, for: check)
        case .unavailable where check.proxy == .nginx:
            // nginx turns the status into 500, for which its file has a page with 503. In a page request it is passed on.
            return signIn.render(standard, as: check.representation, for: authentication)
        case .forbidden, .methodNotAllowed, .unavailable:
            let page = signIn.render(standard, as: check.representation, for: authentication)
            return understood(page, by: check.proxy)
        case .certificateNeeded:
            return denial("the page needs a client certificate, which a proxy cannot pass on", as: check.representation)
        case .ambiguousPath: return denial("the request is ambiguous", as: check.representation)
        case .malformed(let reason): return denial(reason, as: check.representation)
        case .crossOrigin, .misdirected, .notFound, .index, .health, .asset, .welcome:
            return denial("the request cannot be checked", as: check.representation)
        }
    }

    /// Returns a page with a status that the proxy understands.
    private func understood(_ page: RenderedResponse, by proxy: ForwardAuthProxy) -> RenderedResponse {
        guard !proxy.forwardsAllStatuses else { return page }
        var page = page
        page.head.status = .forbidden
        page.head.headerFields[.allow] = nil
        page.head.headerFields[.retryAfter] = nil
        return page
    }

    /// Returns a 403 response with a reason: a page for a browser, and text for other clients.
    func denial(_ reason: String, as representation: Representation) -> RenderedResponse {
        guard representation.isHTML else { return response(.forbidden, text: reason) }
        let line = Message(.requestDenied, ["reason": .verbatim(reason)])
        return Page(status: .forbidden, title: Message(.accessDenied), lines: [line])
            .rendered(as: representation, in: context)
    }

    /// Returns a redirect to the sign-in page.
    ///
    /// The page is at the sign-in host, or the proxy serves it on the host of the application. nginx gets a 401 with a
    /// `Location`, and its configuration turns the 401 into a redirect.
    private func signIn(
        at link: SignInLink,
        _ challenge: Challenge,
        isSafe: Bool,
        for check: Check
    ) -> RenderedResponse {
        var fields: HTTPFields = [.location: link.url(from: check.original.host.text)]
        fields[.setCookie] = link.cookie
        guard check.proxy.forwardsAllStatuses || check.proxy == .envoy else {
            return unauthorized(challenge, for: check, fields: fields)
        }
        return response(isSafe ? .found : .seeOther, fields: fields, text: "not signed in")
    }

    private func unauthorized(_ challenge: Challenge, for check: Check, fields: HTTPFields = [:]) -> RenderedResponse {
        var headers = fields
        challenge.add(to: &headers, signInAt: context.links.page, putsBasicFirst: check.proxy == .nginx)
        return response(.unauthorized, fields: headers, text: "not signed in")
    }

    private func response(_ status: HTTPResponse.Status, fields: HTTPFields = [:], text: String) -> RenderedResponse {
        var headers = fields
        headers[.contentType] = "text/plain; charset=utf-8"
        headers[.cacheControl] = "no-store"
        headers[.vary] = "Accept, Authorization, Cookie"
        context.security.add(to: &headers)
        return RenderedResponse(status, headers, body: ByteBuffer(string: text + "\n"))
    }
}

extension ForwardAuthProxy {
    /// True if the proxy forwards a response of any status to the client.
    fileprivate var forwardsAllStatuses: Bool {
        switch self {
        case .caddy, .traefik, .haproxy: true
        case .nginx, .envoy: false
        }
    }
}

extension HTTPField.Name {
    fileprivate static let envoyRemoved = known("x-envoy-auth-headers-to-remove")
}
