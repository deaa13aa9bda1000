// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes
internal import HTTPServer
internal import HTTPTypes
internal import NIOCore
internal import OpenSSLKit
internal import RealmConfiguration
internal import RealmKit
internal import SignIn

/// Responds to the requests of the server.
///
/// It finds the client and the route, decides, makes the response, and writes a line of the access log. On the event
/// loop, each request is passed to ``AccessController/decide(_:credentials:)``. If the decision needs a login, a task calls
/// ``AccessController/complete(_:)``.
///
/// It is a class, because a copy of a structure of this size costs some twenty reference counts.
final class GatehouseResponder: Responder {
    /// The lanes that are used: the event loop, and tasks.
    enum Lanes: Sendable {
        /// A request that needs no login is answered on the event loop, and any other request in a task.
        case both
        /// Every request is answered in a task. This is for tests that compare the two lanes.
        case asyncOnly
    }

    let accessController: AccessController
    private let signIn: SignIn
    /// True if a rule uses the sign-in pages and the session API.
    private let hasSignIn: Bool
    let responses: PreparedResponses
    let forwardAuth: ForwardAuth
    /// The proxies that may send forwarded fields and use forward authentication.
    let proxies: TrustedProxies
    let log: AccessLog
    /// The requests in progress.
    let places: RequestPlaces
    /// True if TLS requests client certificates.
    ///
    /// The host of a request must then be the host of its TLS connection, because another host may require other
    /// certificates (CVE-2025-23419, RFC 9110 section 7.4).
    private let requestsCertificates: Bool
    let lanes: Lanes

    var routes: Routes { signIn.context.routes }

    init(
        _ configuration: Configuration,
        _ signIn: SignIn,
        log: AccessLog,
        places: RequestPlaces,
        wallClock: WallClock = .system,
        lanes: Lanes = .both
    ) throws(OpenSSLError) {
        let settings = configuration.server
        self.signIn = signIn
        accessController = signIn.accessController
        hasSignIn = configuration.rules.contains { $0.schemes.contains(.form) }
        responses = PreparedResponses(signIn)
        forwardAuth = ForwardAuth(signIn, tokens: try IdentityTokenSource(settings, clock: wallClock))
        proxies = TrustedProxies(settings.trustedProxies, setForwardedHost: settings.trustsForwardedHost)
        requestsCertificates = settings.tls.clientCertificates != .none
        (self.log, self.places, self.lanes) = (log, places, lanes)
    }

    func respond(to head: borrowing RequestHead, on connection: Connection) -> ResponseMode {
        var received = ReceivedRequest(head, on: connection, at: log.now, signIn.context.translations)
        if requestsCertificates, let name = connection.serverName, !head.isFor(host: name) {
            return reply(to: received, with: .misdirected)
        }
        let route = received.path.map { routes.route(at: $0) } ?? routes.route(atAmbiguous: head.target)
        guard received.path != nil || route != nil else { return reply(to: received, with: .ambiguousPath) }
        if let reason = proxies.readAddress(&received.client, from: head) {
            // A forward-auth proxy gets a response that it understands.
            if case .forwardAuth(let proxy) = route {
                let claim = proxy.flatMap { description(head, of: $0).claim(from: $0) }
                return reject(received, because: "the request cannot be checked", logging: reason, claim: claim)
            }
            return reply(to: received, with: .malformed(reason))
        }
        // The forwarded host of a forward-auth request is not read here, because it describes the original request.
        if route?.isPage ?? true,
            let reason = proxies.readHost(&received.client, peer: connection.peer, from: head)
        {
            // The access log shows the reason to the administrator of the proxy.
            received.remark = " \(LogText.quoted(reason))"
            return reply(to: received, with: .malformed(reason))
        }
        received.client.readCookies(from: head)
        // The certificate of a trusted proxy is not the certificate of the client.
        if !connection.clientChain.isEmpty, !proxies.contains(connection.peer) {
            received.client.certificate = ClientCertificate(connection.clientChain)
        }
        // An attacker may have set one of two cookies with the same name, so no session is used.
        if case .repeated = received.client.cookies.session { received.remark = " session-cookie-repeated" }
        if let route {
            switch route {
            case .asset(let asset) where received.isSafe && (hasSignIn || !asset.isForSignIn):
                return reply(to: received, with: .asset(asset))
            // Requests of other peers are also answered here: a proxy would treat a page with status 200 as permission.
            case .forwardAuth(let proxy): return answer(proxy, received, head: head, on: connection)
            case .signIn, .step, .enter, .signOut, .account, .accountEnd, .session, .sessionRefresh, .sessionEvents,
                .sessions, .oneSession:
                if hasSignIn {
                    return respond(to: received, head: head) { [signIn] in await signIn.respond(at: route, to: $0) }
                }
            case .realms, .realmCheck:
                let credentials = apiCredentials(head, on: connection)
                return respond(to: received, head: head) { [signIn] in
                    await signIn.respond(at: route, to: $0, from: credentials)
                }
            case .asset: break
            }
        }
        guard let path = received.path else { return reply(to: received, with: .ambiguousPath) }
        if route == nil, routes.isMisplacedForwardAuth(path) {
            return reject(
                received,
                because: "not a forward authentication path",
                logging: "forward authentication paths begin with \(routes.prefix)/auth/"
            )
        }
        return decide(received, path: path, head: head)
    }

    func respond(to fault: RequestFault, on connection: Connection) -> PreparedResponse {
        let response = responses.prepared(fault)
        if log.isEnabled {
            var entry = AccessLog.Entry(peer: connection.peer, status: response.status, length: response.bodyLength)
            entry.remarks.0 = " \(LogText.quoted(fault.reason))"
            log.write(entry, since: log.now)
        }
        return response
    }

    // MARK: The server's own pages

    private func decide(_ received: ReceivedRequest, path: RequestPath, head: borrowing RequestHead) -> ResponseMode {
        let request = AccessRequest(
            method: received.method,
            path: path,
            fields: head,
            client: received.client,
            rules: accessController.rules
        )
        switch accessController.decide(request, credentials: { Self.credentials(head) }) {
        case .now(let result):
            let response = response(
                to: received,
                after: result,
                clientKind: received.clientKind(head),
                requested: Self.requested(received, head)
            )
            // A request that no rule matches is not refused here.
            guard result.rule != nil, result.decision.isRefusal else {
                return reply(to: received, with: response, for: result.authentication)
            }
            var refused = received
            note(result, in: &refused)
            return reply(to: refused, with: response, for: result.authentication)
        case .afterLogin(let login):
            guard let place = places.take(for: received.client.address) else { return refuse(received) }
            let (clientKind, requested) = (received.clientKind(head), Self.requested(received, head))
            return complete(login, for: received, in: place) { [self, received] result in
                let response = response(to: received, after: result, clientKind: clientKind, requested: requested)
                return responses.prepared(response, as: received.representation, for: result.authentication)
            }
        }
    }

    /// Answers a request after the login that the decision needs.
    func complete(
        _ login: AccessController.Login,
        for received: ReceivedRequest,
        in place: RequestPlace,
        _ respond: @escaping @Sendable (AccessResult) -> PreparedResponse
    ) -> ResponseMode {
        .prepared(beginsOnEventLoop: accessController.rarelyWaits(login)) { [self, received] in
            defer { place.release() }
            let completed = await accessController.complete(login)
            var received = received
            note(completed.result, in: &received)
            if log.isEnabled, let fault = completed.certificateFault {
                received.remark += " certificate-rejected \(LogText.quoted(fault.log))"
            }
            let response = respond(completed.result)
            return finish(response, to: received, after: completed.report, for: completed.result.authentication)
        }
    }

    /// Notes the rule of a refused request for the access log.
    func note(_ result: AccessResult, in received: inout ReceivedRequest) {
        if log.isEnabled, result.decision.isRefusal { received.rule = LogText.refusal(result) }
    }

    static func credentials(_ head: borrowing RequestHead) -> BasicScheme.Presented {
        head.withFirst(.authorization) { BasicScheme.read($0, count: head.count(of: .authorization)) } ?? .nothing
    }

    private static func requested(
        _ received: ReceivedRequest,
        _ head: borrowing RequestHead
    ) -> SignInLinks.LinkRequest {
        .init(head.target, at: received.client.authority(head), cookies: received.client.cookies)
    }

    private func response(
        to received: ReceivedRequest,
        after result: AccessResult,
        clientKind: @autoclosure () -> ClientKind,
        requested: @autoclosure () -> SignInLinks.LinkRequest
    ) -> StandardResponse {
        let response = result.decision.standardResponse(
            signInBy: hasSignIn ? signIn.context.links : nil,
            isSafe: received.isSafe,
            clientKind: clientKind(),
            request: requested()
        )
        if let response { return response }
        guard received.isSafe else { return .methodNotAllowed(StandardResponse.safeMethods) }
        if case .allowed(let user) = result.decision { return .welcome(user) }
        guard let path = received.path else { return .notFound }
        if path.segments.isEmpty { return .index }
        return path.segments == ["health"] && !path.endsInSlash ? .health : .notFound
    }

    // MARK: Sign-in, sessions and the realm API

    private func apiCredentials(_ head: borrowing RequestHead, on connection: Connection) -> APICredentials {
        let count = head.count(of: .authorization)
        return APICredentials(
            token: head.withFirst(.authorization) { BearerToken($0, count: count) } ?? .missing,
            // The certificate of a trusted proxy is not the certificate of the program.
            certificateChain: proxies.contains(connection.peer) ? [] : connection.clientChain
        )
    }

    /// Answers a request in a task.
    ///
    /// An event stream keeps no place, because the number of event streams has its own limits.
    private func respond(
        to received: ReceivedRequest,
        head: borrowing RequestHead,
        with answer: @escaping @Sendable (WebRequest) async -> RenderedResponse
    ) -> ResponseMode {
        let (authority, query, fields) = (received.client.authority(head), Self.query(head), head.headerFields)
        guard let place = places.take(for: received.client.address) else { return refuse(received) }
        return .deferred { [self] body in
            defer { place.release() }
            let request = WebRequest(
                method: received.method,
                query: query,
                authority: authority,
                client: received.client,
                fields: fields,
                body: { body.readableBytes <= $0 ? body : nil }
            )
            let answer = await answer(request)
            let hasLength = answer.events == nil && received.method != "HEAD"
            logAccess(
                received,
                user: answer.report.map { ($0.username, $0.realm) } ?? answer.user.map { ($0.username, $0.realm) },
                status: answer.head.status.code,
                length: hasLength ? answer.body.readableBytes : 0,
                reason: answer.remark + (answer.report.map { LogText.reason($0) } ?? "") + answer.rule
            )
            guard let events = answer.events else { return .whole(PreparedResponse(answer)) }
            return .stream(answer.head, first: answer.body, later: events.map { ByteBuffer(string: $0.text) })
        }
    }

    /// The part of the target after the first `?`.
    private static func query(_ head: borrowing RequestHead) -> String {
        head.withTarget { target in
            var start = 0
            while start < target.count, target[start] != UInt8(ascii: "?") { start += 1 }
            return UTF8Text(repairing: target.extracting(min(start + 1, target.count)..<target.count)).string
        }
    }
}
