// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
package import Bytes
internal import HTTPTypes
package import HummingbirdCore
internal import Logging
internal import OpenSSLKit
internal import RealmConfiguration
internal import RealmKit
internal import Sessions
internal import SignIn

/// The access control of an application that uses Hummingbird's server.
///
/// It uses the ``AccessController`` and the renderer of the Gatehouse server, so both make the same decisions and
/// pages.
struct RealmAccess: Sendable {
    private let components: AccessComponents
    private let proxies: TrustedProxies
    /// True if the `tls` block requests certificates of clients.
    private let requestsCertificates: Bool

    private var routes: Routes { components.renderer.context.routes }

    init(_ signIn: SignInService, configuration: Configuration, isTrusted: Bool) throws(OpenSSLError) {
        components = try signIn.components(for: configuration, isCertificateTrusted: isTrusted)
        proxies = TrustedProxies(
            configuration.server.trustedProxies,
            setForwardedHost: configuration.server.trustsForwardedHost
        )
        requestsCertificates = configuration.server.tls.clientCertificates != .none
    }

    /// The names of the realms of the sign-in page, which are used if no rule names realms for the requested page.
    var signInRealms: [String] { components.signIn.signInRealms }

    /// Whether the next of these realms is used if a realm is unavailable.
    var signInWhenUnavailable: WhenUnavailable { components.signIn.signInWhenUnavailable }

    func events(of session: Session) throws(SessionFault) -> SessionEvents {
        try components.accessController.sessions.events(of: session, after: nil)
    }

    var rulesGuard: RouteGuard {
        RouteGuard(access: self, accessController: components.accessController, usesPath: true, challenge: nil)
    }

    /// Returns a guard that accepts the users of some realms on every path; the preferred scheme is the first.
    func routeGuard(
        realms: [String],
        whenUnavailable: WhenUnavailable = .continue,
        schemes: [ProtectRule.Scheme]
    ) -> RouteGuard {
        var rule = ProtectRule(path: "/", realms: realms, schemes: schemes, requirements: [.any])
        rule.whenUnavailable = whenUnavailable
        let accessController = components.accessController.with(rules: ProtectionRules([rule]))
        let challenge = Challenge(rule)
        return RouteGuard(
            access: self,
            accessController: accessController,
            usesPath: false,
            challenge: challenge.isEmpty ? nil : challenge
        )
    }

    // MARK: Pages

    /// Responds to a request for a sign-in page or the session API; nil if the path belongs to the application.
    func page(_ request: Request, from connection: ClientConnection, logger: Logger) async -> Response? {
        // The paths of the sign-in pages are not ambiguous, so an ambiguous path belongs to the application.
        guard let path = try? RequestPath(reading: request.target.utf8Span.span) else { return nil }
        guard let route = routes.route(at: path) else { return nil }
        switch route {
        case .forwardAuth: return nil
        case .asset(let asset): return response(request.isSafe ? .asset(asset) : Self.readOnly, to: request)
        case .signIn, .step, .enter, .signOut, .account, .accountEnd, .session, .sessionRefresh, .sessionEvents,
            .sessions, .oneSession, .realms, .realmCheck:
            break
        }
        switch client(of: request, from: connection) {
        case .malformed(let reason): return response(.malformed(reason), to: request)
        case .misdirected: return response(.misdirected, to: request)
        case .client(let client):
            let webRequest = webRequest(request, path: path, client: client)
            let answer = await answer(at: route, to: webRequest, of: request, from: connection)
            if let report = answer.report { RequestLog(logger: logger).logLogin(report, rule: answer.rule) }
            return answer.response
        }
    }

    private func answer(
        at route: Route,
        to webRequest: WebRequest,
        of request: Request,
        from connection: ClientConnection
    ) async -> LoggedResponse {
        switch route {
        case .realms, .realmCheck:
            // The routes exist only if the realm API is enabled.
            guard let realmAPI = components.realmAPI else { break }
            let credentials = ProgramCredentials(
                token: BearerToken(request.headers.texts(of: .authorization)),
                certificateChain: certificateChain(from: connection)
            )
            return await realmAPI.respond(at: route, to: webRequest, from: credentials)
        case .signIn, .step, .enter, .signOut, .account, .accountEnd, .session, .sessionRefresh, .sessionEvents,
            .sessions, .oneSession, .asset, .forwardAuth:
            break
        }
        return await components.signIn.respond(at: route, to: webRequest)
    }

    // MARK: Requests

    enum ClientResult {
        case client(RequestClient)
        case malformed(String)
        /// The TLS connection was made for another host.
        case misdirected
    }

    /// Returns the client of a request; forwarded fields are read only from trusted proxies.
    func client(of request: Request, from connection: ClientConnection) -> ClientResult {
        if requestsCertificates, let name = connection.certificate?.handshake.serverName,
            RequestHost(request.hostText)?.name != RequestHost(name)?.name
        {
            return .misdirected
        }
        var client = RequestClient(address: connection.peer)
        if let reason = proxies.readAddress(&client, from: request) { return .malformed(reason) }
        if let reason = proxies.readHost(&client, peer: connection.peer, from: request) { return .malformed(reason) }
        client.readCookies(from: request)
        client.certificate = ClientCertificate(certificateChain(from: connection))
        return .client(client)
    }

    private func certificateChain(from connection: ClientConnection) -> [Certificate] {
        // The certificate of a trusted proxy is not the certificate of the client.
        proxies.contains(connection.peer) ? [] : connection.certificate?.handshake.chain ?? []
    }

    /// Returns whether a request has an unsafe method and comes from a page of another site.
    ///
    /// Browsers send header fields that name the site. A request without these fields does not come from a page.
    func isCrossOriginChange(_ request: Request, path: RequestPath, client: RequestClient) -> Bool {
        !request.isSafe && webRequest(request, path: path, client: client).isCrossOrigin
    }

    private func webRequest(_ request: Request, path: RequestPath, client: RequestClient) -> WebRequest {
        var fields = request.headers
        fields[.cookie] = nil
        fields[.authorization] = nil
        return WebRequest(
            method: request.method.rawValue,
            path: path,
            query: request.uri.query ?? "",
            authority: client.authority(request),
            client: client,
            fields: fields,
            body: request.body
        )
    }

    // MARK: Responses

    func response(
        _ response: StandardResponse,
        to request: Request,
        for authentication: ExistingAuthentication? = nil
    ) -> Response {
        components.renderer.render(response, as: representation(for: request), for: authentication)
            .response(isHead: request.method == .head)
    }

    func crossOriginRejection(of request: Request) -> Response {
        Page.crossOrigin.rendered(as: representation(for: request), in: components.renderer.context)
            .response(isHead: request.method == .head)
    }

    private func representation(for request: Request) -> Representation {
        Representation(for: request.headers, in: components.renderer.context.translations)
    }

    /// Returns the response to a request that is not allowed; nil if the request is allowed.
    func rejection(
        _ decision: AccessDecision,
        of request: Request,
        from known: RequestClient?,
        for authentication: ExistingAuthentication?
    ) -> Response? {
        var client = known ?? RequestClient(address: nil)
        if known == nil { client.readCookies(from: request) }
        let outcome = decision.outcome(
            signInBy: components.renderer.context.links,
            isSafe: request.isSafe,
            clientKind: ClientKind(request.headers),
            request: .init(request.target, at: client.authority(request), cookies: client.cookies)
        )
        switch outcome {
        case .allowed, .noMatchingRule: return nil
        case .response(let standard): return response(standard, to: request, for: authentication)
        }
    }

    private static let readOnly = StandardResponse.methodNotAllowed(StandardResponse.safeMethods)
}

extension Request: RequestFields {
    package var hostText: String { head.authority ?? "" }

    package func values(named name: StaticString) -> [UTF8Text] {
        HTTPField.Name(name.description).map { headers.texts(of: $0) } ?? []
    }

    package func forEachCookieField(_ body: (Span<UInt8>) -> Void) {
        for field in headers.texts(of: .cookie) { body(field.string.utf8Span.span) }
    }

    var target: String { head.path ?? "" }

    /// True if the method is safe (RFC 9110 section 9.2.1).
    var isSafe: Bool { method == .get || method == .head }
}
