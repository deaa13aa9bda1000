// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPServer
internal import HTTPTypes
package import HummingbirdCore
package import Logging
internal import NIOCore
package import OpenSSLKit
package import RealmConfiguration
internal import RealmKit
package import Sessions

/// What an application that has a server of its own asks about its requests.
///
/// It decides by the same ``Gate`` and shows the same pages as Gatehouse's own server.
package struct FrontDesk: Sendable {
    private let reception: Reception
    private let trusted: [AddressBlock]

    private var places: Places { reception.shelf.frame.places }

    /// A desk for a configuration.
    ///
    /// - Parameters:
    ///   - signIn: What keeps people signed in.
    ///   - configuration: Realms, rules and settings.
    ///   - isTrusted: Whether clients are meant to trust the certificate.
    /// - Throws: ``OpenSSLError`` when there is no randomness for a key.
    package init(
        _ signIn: SignInService,
        _ configuration: Configuration,
        isTrusted: Bool
    ) throws(OpenSSLError) {
        reception = try signIn.reception(configuration, isTrusted: isTrusted)
        trusted = configuration.server.trustedProxies
    }

    /// The names of the realms that the sign-in page asks where no rule says it.
    package var signInRealms: [String] { reception.portal.realms }

    /// The events of a session.
    ///
    /// - Parameter session: The session.
    /// - Returns: The events, from now on.
    /// - Throws: ``SessionFault`` when the session is over, or there are as many streams as there may be.
    package func events(of session: Session) throws(SessionFault) -> SessionEvents {
        try reception.gate.sessions.events(of: session, after: nil)
    }

    /// Who decides by the rules of the configuration about the paths they name.
    package var rulesDoor: Door { Door(desk: self, gate: reception.gate, isByPath: true, challenge: nil) }

    /// Who decides whether anybody is there whom one of these realms knows, whatever the path.
    ///
    /// - Parameters:
    ///   - realms: The names of the realms, in order.
    ///   - schemes: How people may show who they are, the preferred first.
    /// - Returns: The door.
    package func door(realms: [String], schemes: [ProtectRule.Scheme]) -> Door {
        let rule = ProtectRule(path: "/", realms: realms, schemes: schemes, requirements: [.any])
        let gate = reception.gate.asking(ProtectionRules([rule]))
        return Door(desk: self, gate: gate, isByPath: false, challenge: Challenge(rule))
    }

    // MARK: Pages

    /// The answer to a request for one of the sign-in pages or the session API.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - peer: The address at the other end of the connection.
    ///   - logger: Where is said how a login went.
    /// - Returns: The answer; nil for paths that are not ours.
    package func page(_ request: Request, peer: String?, logger: Logger) async -> Response? {
        let path: RequestPath
        do throws(DoubtfulPath) {
            path = try RequestPath(reading: Self.target(request).utf8Span.span)
        } catch {
            // The application's router may still know it; none of ours is spelled in doubt.
            return nil
        }
        guard let endpoint = places.endpoint(at: path) else { return nil }
        switch endpoint {
        case .forwardAuth: return nil
        case .style: return response(Self.isSafe(request) ? .stylesheet : Self.readOnly, request)
        case .script: return response(Self.isSafe(request) ? .script : Self.readOnly, request)
        case .signIn, .step, .signOut, .account, .accountEnd, .session, .sessionRefresh, .sessionEvents, .sessions,
            .oneSession:
            break
        }
        switch address(request, peer) {
        case .unreadable(let reason): return response(.malformed(reason), request)
        case .address(let address):
            let answer = await reception.portal.respond(at: endpoint, to: webRequest(request, path, address, peer))
            if let report = answer.report { Self.note(report, logger) }
            return answer.response
        }
    }

    // MARK: Requests

    /// Whether the request changes something and a page of another site has sent it, as far as browsers say.
    func isForged(_ request: Request, at path: RequestPath, peer: String?) -> Bool {
        !Self.isSafe(request) && webRequest(request, path, nil, peer).isCrossOrigin
    }

    /// Where a request came from, as far as proxies that are trusted have said.
    func address(_ request: Request, _ peer: String?) -> ClientAddress {
        ClientAddress.find(peer: peer, trusted: trusted, forwarded: request.headers[values: .xForwardedFor])
    }

    /// Host and port as the client has named them; behind a trusted proxy, as that says.
    func authority(_ request: Request, _ peer: String?) -> String {
        ClientAuthority.find(
            own: request.head.authority ?? "",
            peer: peer,
            trusted: trusted,
            forwarded: request.headers[values: .xForwardedHost]
        )
    }

    private func webRequest(
        _ request: Request,
        _ path: RequestPath,
        _ address: String?,
        _ peer: String?
    ) -> WebRequest {
        var fields = request.headers
        fields[.cookie] = nil
        fields[.authorization] = nil
        return WebRequest(
            method: request.method.rawValue,
            path: path,
            query: request.uri.query ?? "",
            authority: authority(request, peer),
            address: address,
            cookies: Self.cookies(request),
            fields: fields,
            body: request.body
        )
    }

    static func cookies(_ request: Request) -> OurCookies {
        var cookies = OurCookies()
        for field in request.headers[values: .cookie] { cookies.read(field.utf8Span.span) }
        return cookies
    }

    static func target(_ request: Request) -> String { request.head.path ?? "" }

    static func isSafe(_ request: Request) -> Bool { request.method == .get || request.method == .head }

    static func asHTML(_ request: Request) -> Bool { AcceptField.prefersHTML(request.headers) }

    // MARK: Answers

    /// The page for a refusal, as for somebody who is known from before or not.
    func response(_ content: Content, _ request: Request, _ known: Gate.Known? = nil) -> Response {
        let (head, body) = reception.shelf.rendered(content, asHTML: Self.asHTML(request), known)
        var headers = head.headerFields
        headers[.contentLength] = String(body.readableBytes)
        // The length stays that of the answer to a GET, RFC 9110 section 9.3.2.
        let shown = request.method == .head ? ByteBuffer() : body
        return Response(status: head.status, headers: headers, body: ResponseBody(byteBuffer: shown))
    }

    /// The answer to a request of a page of another site.
    func forged(_ request: Request) -> Response {
        let (head, body) = Page.crossOrigin.rendered(asHTML: Self.asHTML(request), reception.shelf.frame)
        return Response(status: head.status, headers: head.headerFields, body: ResponseBody(byteBuffer: body))
    }

    /// What somebody is told whom a decision does not let pass; nil for who may.
    func refusal(_ decision: Gate.Decision, _ request: Request, _ known: Gate.Known?) -> Response? {
        decision.answered(
            signIn: places,
            isSafe: Self.isSafe(request),
            asker: Asker(request.headers),
            target: Self.target(request),
            refused: { response($0, request, known) },
            passed: { _, _ in nil }
        )
    }

    private static let readOnly = Content.methodNotAllowed(Content.readingMethods)

    static func note(_ report: LoginReport, _ logger: Logger) {
        logger.info(
            "a login\(AccessLog.reason(report))",
            metadata: [
                "user": "\(AccessLog.quoted(report.username.text))", "realm": "\(AccessLog.quoted(report.realm))",
                "peer": "\(report.peer ?? "-")",
            ]
        )
    }
}
