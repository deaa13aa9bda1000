// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import AccessControl
internal import Bytes
internal import HTTPTypes
internal import HummingbirdCore
internal import Logging
internal import OpenSSLKit
internal import RealmConfiguration
internal import RealmKit
internal import Sessions
internal import SignIn

/// The access control of an application with a server of its own.
///
/// It decides with the same ``AccessController`` and renders the same pages as Gatehouse's own server.
struct RealmAccess: Sendable {
    private let components: AccessComponents
    private let proxies: TrustedProxies

    private var routes: Routes { components.renderer.context.routes }

    /// The access control of a configuration.
    ///
    /// - Parameters:
    ///   - signIn: Sessions, failed logins and changed users.
    ///   - configuration: Realms, rules and settings.
    ///   - isTrusted: True if clients are expected to trust the certificate.
    /// - Throws: ``OpenSSLError`` when no random bytes can be generated for a key.
    init(_ signIn: SignInService, configuration: Configuration, isTrusted: Bool) throws(OpenSSLError) {
        components = try signIn.components(for: configuration, isTrusted: isTrusted)
        proxies = TrustedProxies(
            configuration.server.trustedProxies,
            setForwardedHost: configuration.server.trustsForwardedHost
        )
    }

    /// The names of the realms in which the sign-in page logs in where no rule names others.
    var signInRealms: [String] { components.signIn.signInRealms }

    /// Returns the events of a session, from now on.
    ///
    /// - Parameter session: The session.
    /// - Returns: The events of a session, from now on.
    /// - Throws: ``SessionFault`` when the session has ended, or the limit of streams is reached.
    func events(of session: Session) throws(SessionFault) -> SessionEvents {
        try components.accessController.sessions.events(of: session, after: nil)
    }

    /// The guard that decides by the rules of the configuration, each for the paths it names.
    var rulesGuard: RouteGuard {
        RouteGuard(access: self, accessController: components.accessController, usesPath: true, challenge: nil)
    }

    /// Returns the guard that accepts the users of some realms, whatever the path.
    ///
    /// - Parameters:
    ///   - realms: The names of the realms, in order.
    ///   - schemes: The authentication schemes, the preferred one first.
    /// - Returns: The guard that accepts the users of some realms, whatever the path.
    func routeGuard(realms: [String], schemes: [ProtectRule.Scheme]) -> RouteGuard {
        let rule = ProtectRule(path: "/", realms: realms, schemes: schemes, requirements: [.any])
        let accessController = components.accessController.with(rules: ProtectionRules([rule]))
        return RouteGuard(
            access: self,
            accessController: accessController,
            usesPath: false,
            challenge: Challenge(rule)
        )
    }

    // MARK: Pages

    /// Returns the response to a request for one of the sign-in pages or the session API; nil for other paths.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - peer: The address at the other end of the connection.
    ///   - logger: The log of logins.
    /// - Returns: The response to a request for one of the sign-in pages or the session API; nil for other paths.
    func page(_ request: Request, peer: String?, logger: Logger) async -> Response? {
        let path: RequestPath
        do throws(AmbiguousPath) {
            path = try RequestPath(reading: request.target.utf8Span.span)
        } catch {
            // An ambiguous path is left to the application's router; none of the sign-in paths is ambiguous.
            return nil
        }
        guard let route = routes.route(at: path) else { return nil }
        switch route {
        case .forwardAuth: return nil
        case .style: return response(request.isSafe ? .stylesheet : Self.readOnly, to: request)
        case .script: return response(request.isSafe ? .script : Self.readOnly, to: request)
        case .signIn, .step, .signOut, .account, .accountEnd, .session, .sessionRefresh, .sessionEvents, .sessions,
            .oneSession:
            break
        }
        switch client(of: request, peer: peer) {
        case .malformed(let reason): return response(.malformed(reason), to: request)
        case .client(let client):
            let answer = await components.signIn.respond(
                at: route,
                to: webRequest(request, path: path, client: client)
            )
            if let report = answer.report { Self.note(report, in: logger) }
            return answer.response
        }
    }

    // MARK: Requests

    /// The client of a request, or the reason for a 400.
    enum ClientResult {
        case client(RequestClient)
        case malformed(String)
    }

    /// Finds the client of a request behind the trusted proxies.
    func client(of request: Request, peer: String?) -> ClientResult {
        var client = RequestClient(address: peer)
        if let reason = proxies.readAddress(&client, from: request) { return .malformed(reason) }
        if let reason = proxies.readHost(&client, peer: peer, from: request) { return .malformed(reason) }
        client.readCookies(from: request)
        return .client(client)
    }

    /// Returns whether the request changes something and comes from a page of another site, as far as browsers report
    /// it.
    func isForged(_ request: Request, path: RequestPath, client: RequestClient) -> Bool {
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

    /// Renders a standard response.
    func response(
        _ response: StandardResponse,
        to request: Request,
        for authentication: ExistingAuthentication? = nil
    ) -> Response {
        let asHTML = AcceptField.prefersHTML(request.headers)
        return components.renderer.render(response, asHTML: asHTML, for: authentication)
            .response(isHead: request.method == .head)
    }

    /// The response to a request of a page of another site.
    func forged(_ request: Request) -> Response {
        Page.crossOrigin.rendered(asHTML: AcceptField.prefersHTML(request.headers), in: components.renderer.context)
            .response(isHead: request.method == .head)
    }

    /// Returns the response to a request that is not allowed; nil for one that is.
    func rejection(
        _ decision: AccessDecision,
        of request: Request,
        for authentication: ExistingAuthentication?
    ) -> Response? {
        let outcome = decision.outcome(
            signInAt: routes,
            isSafe: request.isSafe,
            clientKind: ClientKind(request.headers),
            target: request.target
        )
        switch outcome {
        case .allowed, .noMatchingRule: return nil
        case .response(let standard): return response(standard, to: request, for: authentication)
        }
    }

    private static let readOnly = StandardResponse.methodNotAllowed(StandardResponse.safeMethods)

    static func note(_ report: LoginReport, in logger: Logger) {
        logger.info(
            "a login\(LogText.reason(report))",
            metadata: [
                "user": "\(LogText.quoted(report.username.text))", "realm": "\(LogText.quoted(report.realm))",
                "peer": "\(report.peer ?? "-")",
            ]
        )
    }
}
