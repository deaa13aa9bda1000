// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
package import Bytes
internal import HTTPTypes
package import HummingbirdCore
internal import Logging
internal import NIOCore
internal import OpenSSLKit
internal import RealmConfiguration
internal import RealmKit
internal import Sessions
internal import SignIn

/// A configuration and its access control, for an application that uses Hummingbird's server; a reload replaces it.
///
/// It uses the ``AccessController`` and the renderer of the Gatehouse server, so both make the same decisions and
/// pages.
final class RealmAccess: Sendable {
    let configuration: Configuration
    let signIn: SignIn
    /// Nil if the configuration has no `identity-token`.
    let tokens: IdentityTokenSource?
    private let proxies: TrustedProxies
    /// True if the `tls` block requests certificates of clients.
    private let requestsCertificates: Bool

    init(
        _ configuration: Configuration,
        service: SignInService,
        isReload: Bool = false
    ) throws(OpenSSLError) {
        // HSTS is sent only with a configured certificate: clients do not trust a development certificate.
        let isCertificateTrusted = configuration.server.tls.files != nil
        tokens = try IdentityTokenSource(configuration.server, clock: .system)
        signIn = try SignIn(
            configuration,
            service: service,
            isCertificateTrusted: isCertificateTrusted,
            isReload: isReload
        )
        self.configuration = configuration
        proxies = TrustedProxies(
            configuration.server.trustedProxies,
            setForwardedHost: configuration.server.trustsForwardedHost
        )
        requestsCertificates = configuration.server.tls.clientCertificates != .none
    }

    func events(of session: Session) throws(SessionFault) -> SessionEvents {
        try signIn.accessController.sessions.events(of: session, after: nil)
    }

    var rulesGuard: RouteGuard {
        RouteGuard(access: self, accessController: signIn.accessController, usesPath: true, challenge: nil)
    }

    /// Returns a guard that accepts the users of some realms on every path; the preferred scheme is the first.
    func routeGuard(
        realms: [String],
        whenUnavailable: WhenUnavailable,
        schemes: [ProtectRule.Scheme]
    ) -> RouteGuard {
        var rule = ProtectRule(path: "/", realms: realms, schemes: schemes, requirements: [.any])
        rule.whenUnavailable = whenUnavailable
        let accessController = signIn.accessController.with(rules: ProtectionRules([rule]))
        let challenge = Challenge(rule)
        return RouteGuard(
            access: self,
            accessController: accessController,
            usesPath: false,
            challenge: challenge.isEmpty ? nil : challenge
        )
    }

    // MARK: Pages

    /// Responds to a request for a sign-in page or one of the APIs; nil if the path belongs to the application.
    func page(_ request: Request, from connection: ClientConnection, logger: Logger) async -> Response? {
        // The paths of the sign-in pages are not ambiguous, so an ambiguous path belongs to the application.
        guard let path = RequestPath(target: request.target),
            let route = signIn.context.routes.route(at: path)
        else { return nil }
        switch route {
        case .forwardAuth: return nil
        case .asset(let asset):
            let readOnly = StandardResponse.methodNotAllowed(StandardResponse.safeMethods)
            return response(request.isSafe ? .asset(asset) : readOnly, to: request)
        case .signIn, .step, .enter, .signOut, .account, .accountEnd, .session, .sessionRefresh, .sessionEvents,
            .sessions, .oneSession, .realms, .realmCheck:
            break
        }
        let client: RequestClient
        switch self.client(of: request, from: connection) {
        case .client(let found): client = found
        case .refused(let refusal): return response(refusal, to: request)
        }
        let webRequest = webRequest(request, client: client)
        let answer: RenderedResponse
        switch route {
        case .realms, .realmCheck:
            let credentials = APICredentials(
                token: BearerToken(request.headers.texts(of: .authorization)),
                certificateChain: certificateChain(from: connection)
            )
            answer = await signIn.respond(at: route, to: webRequest, from: credentials)
        case .signIn, .step, .enter, .signOut, .account, .accountEnd, .session, .sessionRefresh, .sessionEvents,
            .sessions, .oneSession, .asset, .forwardAuth:
            answer = await signIn.respond(at: route, to: webRequest)
        }
        if let report = answer.report { RequestLog(logger: logger).logLogin(report, rule: answer.rule) }
        return answer.response(isHead: request.method == .head)
    }

    // MARK: Requests

    enum ClientResult {
        case client(RequestClient)
        /// The forwarded fields are malformed, or the TLS connection was made for another host.
        case refused(StandardResponse)
    }

    /// Returns the client of a request; forwarded fields are read only from trusted proxies.
    func client(of request: Request, from connection: ClientConnection) -> ClientResult {
        if requestsCertificates, let name = connection.certificate?.handshake.serverName,
            RequestHost(request.hostText)?.name != RequestHost(name)?.name
        {
            return .refused(.misdirected)
        }
        var client = RequestClient(address: connection.peer)
        let reason =
            proxies.readAddress(&client, from: request)
            ?? proxies.readHost(&client, peer: connection.peer, from: request)
        if let reason { return .refused(.malformed(reason)) }
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
    func isCrossOriginChange(_ request: Request, client: RequestClient) -> Bool {
        !request.isSafe && webRequest(request, client: client).isCrossOrigin
    }

    private func webRequest(_ request: Request, client: RequestClient) -> WebRequest {
        var fields = request.headers
        fields[.cookie] = nil
        fields[.authorization] = nil
        return WebRequest(
            method: request.method.rawValue,
            query: request.uri.query ?? "",
            authority: client.authority(request),
            client: client,
            fields: fields,
            body: { try? await request.body.collect(upTo: $0) }
        )
    }

    // MARK: Responses

    func response(
        _ response: StandardResponse,
        to request: Request,
        for authentication: ExistingAuthentication? = nil
    ) -> Response {
        let representation = Representation(for: request.headers, in: signIn.context.translations)
        return signIn.render(response, as: representation, for: authentication)
            .response(isHead: request.method == .head)
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
        let standard = decision.standardResponse(
            signInBy: signIn.context.links,
            isSafe: request.isSafe,
            clientKind: ClientKind(request.headers),
            request: .init(request.target, at: client.authority(request), cookies: client.cookies)
        )
        return standard.map { response($0, to: request, for: authentication) }
    }
}

extension RenderedResponse {
    /// Returns the response for Hummingbird: with `Content-Length`, but without the body for HEAD (RFC 9110 section 9.3.2).
    fileprivate func response(isHead: Bool) -> Response {
        guard let events else {
            var headers = head.headerFields
            if head.status != .noContent { headers[.contentLength] = String(body.readableBytes) }
            return Response(
                status: head.status,
                headers: headers,
                body: ResponseBody(byteBuffer: isHead ? .init() : body)
            )
        }
        guard !isHead else { return Response(status: head.status, headers: head.headerFields) }
        let body = ResponseBody { [body] writer in
            try await writer.write(body)
            for await event in events { try await writer.write(ByteBuffer(string: event.text)) }
            try await writer.finish(nil)
        }
        return Response(status: head.status, headers: head.headerFields, body: body)
    }
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
