// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
internal import OpenSSLKit
internal import RealmConfiguration
internal import RealmKit
internal import Sessions

/// The pages people sign in and out on, the account page, and the session API.
///
/// It knows nothing of the server it runs in: the server hands it requests that are for one of its ``Places``.
struct Portal: Sendable {
    /// An answer, and what the log is to say of it.
    struct Answer: Sendable {
        var response: Response
        /// How a login went, if there was one.
        var report: LoginReport?
        /// Who the request came from, if there is a session.
        var user: SignedInUser?

        init(_ response: Response, report: LoginReport? = nil, user: SignedInUser? = nil) {
            self.response = response
            self.report = report
            self.user = user
        }
    }

    let settings: SignInSettings
    let rules: ProtectionRules
    let authenticator: Authenticator
    let state: SignInState
    let frame: Page.Frame
    /// The realms that are asked where the place somebody wants to go to does not say.
    let realms: [String]

    var places: Places { frame.places }
    var sessions: SessionTable { state.sessions }

    /// A portal for a configuration.
    ///
    /// - Parameters:
    ///   - configuration: Realms, rules and settings.
    ///   - rules: The rules, ready for use.
    ///   - authenticator: The way in.
    ///   - state: Who has signed in.
    ///   - frame: What is the same around all pages.
    init(
        _ configuration: Configuration,
        rules: ProtectionRules,
        authenticator: Authenticator,
        state: SignInState,
        frame: Page.Frame
    ) {
        settings = configuration.server.signIn
        self.rules = rules
        self.authenticator = authenticator
        self.state = state
        self.frame = frame
        realms =
            if !settings.realms.isEmpty {
                settings.realms
            } else if let realm = configuration.defaultRealm {
                [realm]
            } else {
                configuration.rules.first { $0.schemes.contains(.form) }?.realms ?? []
            }
    }

    /// Answers a request.
    ///
    /// - Parameters:
    ///   - endpoint: What the request is for.
    ///   - request: The request.
    /// - Returns: The answer.
    func respond(at endpoint: Places.Endpoint, to request: WebRequest) async -> Answer {
        let allowed = Self.methods(of: endpoint)
        guard allowed.contains(request.method) else {
            return Answer(render(.methodNotAllowed(allowed), request))
        }
        if !request.isSafe, request.isCrossOrigin { return Answer(render(.crossOrigin, request)) }
        switch endpoint {
        case .signIn:
            return request.isSafe ? showSignIn(request) : await signIn(request)
        case .step: return request.isSafe ? showStep(request) : await step(request)
        case .signOut: return await signOut(request)
        case .account: return account(request)
        case .accountEnd: return await endFromAccount(request)
        case .session:
            switch request.method {
            case "POST": return await createSession(request)
            case "DELETE": return await deleteSession(request)
            default: return showSession(request)
            }
        case .sessionRefresh: return refreshSession(request)
        case .sessionEvents: return events(request)
        case .sessions: return listSessions(request)
        case .oneSession(let id): return await deleteSession(id, request)
        case .style, .script, .forwardAuth: return Answer(render(.notFound, request))
        }
    }

    private static func methods(of endpoint: Places.Endpoint) -> [String] {
        switch endpoint {
        case .signIn, .step: ["GET", "HEAD", "POST"]
        case .signOut, .accountEnd, .sessionRefresh: ["POST"]
        case .account, .sessionEvents, .sessions, .style, .script, .forwardAuth: ["GET", "HEAD"]
        case .session: ["GET", "HEAD", "POST", "DELETE"]
        case .oneSession: ["DELETE"]
        }
    }

    // MARK: What all of them need

    /// The session a request has presented.
    func session(_ request: WebRequest, isActivity: Bool) -> (session: Session, token: OpaqueToken)? {
        guard case .token(let token) = request.cookies.session,
            let session = sessions.session(token, isActivity: isActivity)
        else { return nil }
        return (session, token)
    }

    func render(_ page: Page, _ request: WebRequest, cookies: [String] = []) -> Response {
        var (head, body) = page.rendered(asHTML: request.asHTML, frame)
        for cookie in cookies { head.headerFields.append(HTTPField(name: .setCookie, value: cookie)) }
        return Self.response(head, body, request)
    }

    /// To another page of ours, to be got with GET (RFC 9110 section 15.4.4).
    func redirect(_ location: String, _ request: WebRequest, cookies: [String] = []) -> Response {
        var page = Page(status: .seeOther, title: "Go on", lines: ["Go on."])
        page.headers[.location] = location
        page.parts = [Page.Part(PageTemplate.link, ["target": location, "text": "Go on"])]
        page.kind = .form
        return render(page, request, cookies: cookies)
    }

    func json(
        _ value: JSONValue,
        status: HTTPResponse.Status = .ok,
        _ request: WebRequest,
        cookies: [String] = []
    ) -> Response {
        var headers: HTTPFields = [.contentType: "application/json", .cacheControl: "no-store", .vary: "Cookie"]
        frame.security.add(to: &headers)
        for cookie in cookies { headers.append(HTTPField(name: .setCookie, value: cookie)) }
        if status == .unauthorized {
            Challenge(realm: realms.first ?? "", schemes: [ProtectRule.Scheme.form]).add(to: &headers, places)
        }
        if status == .serviceUnavailable { headers[.retryAfter] = "5" }
        let head = HTTPResponse(status: status, headerFields: headers)
        return Self.response(head, ByteBuffer(string: value.text + "\n"), request)
    }

    func error(
        _ code: String,
        _ status: HTTPResponse.Status,
        _ request: WebRequest,
        cookies: [String] = []
    ) -> Response {
        json(.object([("error", .string(code))]), status: status, request, cookies: cookies)
    }

    /// The length stays that of the answer to a GET, RFC 9110 section 9.3.2.
    private static func response(_ head: HTTPResponse, _ body: ByteBuffer, _ request: WebRequest) -> Response {
        var head = head
        head.headerFields[.contentLength] = String(body.readableBytes)
        let shown = request.method == "HEAD" ? ByteBuffer() : body
        return Response(status: head.status, headers: head.headerFields, body: ResponseBody(byteBuffer: shown))
    }

    /// Where a text says somebody wants to go, if it may be gone to.
    func target(_ text: String?, _ request: WebRequest) -> ReturnTarget? {
        guard let text else { return nil }
        guard let host = RequestHost(request.authority) else { return nil }
        let own = SignInSettings.Origin(host: host.name, port: host.port.map(Int.init) ?? 443)
        return ReturnTarget(text, at: own, settings)
    }
}
