// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPServer
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import RealmConfiguration
internal import RealmKit
internal import Sessions

/// Answers requests: path, gate, page, log.
///
/// Both lanes take the same way: ``content(_:_:)`` after ``Gate/begin(_:_:)``, or after ``Gate/decide(_:)`` where
/// somebody has to be logged in first.
struct GatehouseResponder: Responder {
    /// Which requests are answered on the event loop.
    enum Lanes: Sendable {
        /// Those that need no login.
        case both
        /// None: for tests that compare the two.
        case asyncOnly
    }

    let gate: Gate
    private let portal: Portal?
    let shelf: PageShelf
    let forwardAuth: ForwardAuth
    let trusted: [AddressBlock]
    let log: AccessLog
    private let asksClients: Bool
    private let lanes: Lanes

    /// A responder for a configuration.
    ///
    /// - Parameters:
    ///   - gate: Who decides.
    ///   - portal: The sign-in pages and the session API; nil if no rule has use for them.
    ///   - shelf: What is shown.
    ///   - trusted: The proxies whose word is taken for where a request came from, and who may ask about requests.
    ///   - log: Where a line is written for every request.
    ///   - asksClients: Whether TLS asks clients for certificates. Then a request must be for the host that TLS was set up
    ///     for: another may ask other certificates (CVE-2025-23419, RFC 9110 section 7.4).
    ///   - lanes: Which requests are answered on the event loop.
    init(
        gate: Gate,
        portal: Portal?,
        shelf: PageShelf,
        trusted: [AddressBlock] = [],
        log: AccessLog,
        asksClients: Bool = false,
        lanes: Lanes = .both
    ) {
        self.gate = gate
        self.portal = portal
        self.shelf = shelf
        self.trusted = trusted
        self.log = log
        self.asksClients = asksClients
        self.lanes = lanes
        forwardAuth = ForwardAuth(shelf.frame)
    }

    /// What is known of a request before it is answered.
    struct Asked: Sendable {
        var method: String
        let isHead: Bool
        let isSafe: Bool
        let asHTML: Bool
        let path: RequestPath?
        let begin: UInt64
        /// Where it came from.
        var address: String?
        /// Whether there is a field that says so.
        var isForwarded = false
        /// What a proxy asks about.
        var original: OriginalRequest?
        /// What else the log is to say.
        var remark = ""
    }

    func respond(to head: borrowing RequestHead, on connection: Connection) -> Reply {
        var asked = Asked(
            method: head.methodText,
            isHead: head.method == .head,
            isSafe: head.method == .get || head.method == .head,
            asHTML: head.withFirst(.accept) { AcceptField.prefersHTML($0) } ?? false,
            path: head.withTarget { RequestPath(target: $0) },
            begin: log.now,
            address: connection.peer
        )
        if asksClients, let name = connection.serverName, !head.isFor(host: name) {
            return reply(asked, .misdirected, nil)
        }
        guard let path = asked.path else { return reply(asked, .doubtfulPath, nil) }
        let endpoint = shelf.frame.places.endpoint(at: path)
        if !trusted.isEmpty {
            let forwarded = head.values(named: "x-forwarded-for")
            asked.isForwarded = !forwarded.isEmpty
            switch ClientAddress.find(peer: connection.peer, trusted: trusted, forwarded: forwarded) {
            case .address(let address): asked.address = address
            case .unreadable(let reason):
                // A proxy that asks is told in what it understands.
                if case .forwardAuth = endpoint {
                    return reply(
                        asked,
                        forwardAuth.refusal("the question is in doubt"),
                        nil,
                        " \(AccessLog.quoted(reason))"
                    )
                }
                return reply(asked, .malformed(reason), nil)
            }
        }
        var cookies = OurCookies()
        head.forEach(.cookie) { cookies.read($0) }
        // Somebody may have put a second one there, so neither counts.
        if case .repeated = cookies.session { asked.remark = " session-cookie-repeated" }
        if let endpoint {
            switch endpoint {
            case .style where asked.isSafe: return reply(asked, .stylesheet, nil)
            case .script where asked.isSafe && portal != nil: return reply(asked, .script, nil)
            case .forwardAuth(let flavour) where !trusted.isEmpty:
                return authorize(flavour, asked, cookies, head, connection)
            case .signIn, .step, .signOut, .account, .accountEnd, .session, .sessionRefresh, .sessionEvents, .sessions,
                .oneSession:
                if let portal { return hand(endpoint, to: portal, asked, cookies, head, connection) }
            case .style, .script, .forwardAuth: break
            }
        }
        return decide(asked, path, cookies, head, connection)
    }

    func respond(to fault: RequestFault, on connection: Connection) -> PreparedResponse {
        let response = shelf.prepared(fault)
        if log.isOn {
            var entry = AccessLog.Entry(peer: connection.peer, status: response.status, length: response.bodyLength)
            entry.reason = " \(AccessLog.quoted(fault.reason))"
            log.note(entry, since: log.now)
        }
        return response
    }

    // MARK: Our own pages

    private func decide(
        _ asked: Asked,
        _ path: RequestPath,
        _ cookies: OurCookies,
        _ head: borrowing RequestHead,
        _ connection: Connection
    ) -> Reply {
        let question = Gate.Asked(
            // A string is made of it only where somebody needs one.
            host: gate.rules.hasHosts ? .text(authority(head, connection)) : .any,
            path: path,
            method: asked.method,
            address: asked.address,
            session: cookies.session
        )
        switch gate.begin(question, { Self.basic(head) }) {
        case .decided(let decision, let known):
            return reply(
                asked,
                content(asked, decision, asker: Self.asker(head, asked), head.target),
                known
            )
        case .login(let login):
            let asker = Self.asker(head, asked)
            let target = head.target
            return .later { _ in
                let (decision, report) = await gate.decide(login)
                return response(asked, content(asked, decision, asker: asker, target), report)
            }
        }
    }

    static func basic(_ head: borrowing RequestHead) -> BasicScheme.Presented {
        head.withFirst(.authorization) { BasicScheme.read($0, count: head.count(of: .authorization)) } ?? .nothing
    }

    static func asker(_ head: borrowing RequestHead, _ asked: Asked) -> Asker {
        Asker(
            mode: head.values(named: "sec-fetch-mode").first,
            requestedWith: head.values(named: "x-requested-with").first,
            asHTML: asked.asHTML
        )
    }

    private func content(
        _ asked: Asked,
        _ decision: Gate.Decision,
        asker: @autoclosure () -> Asker,
        _ target: @autoclosure () -> String
    ) -> Content {
        decision.answered(
            signIn: portal == nil ? nil : shelf.frame.places,
            isSafe: asked.isSafe,
            asker: asker(),
            target: target(),
            refused: { $0 },
            passed: { user, _ in
                guard asked.isSafe else { return .methodNotAllowed(Content.readingMethods) }
                if let user { return .welcome(user) }
                guard let path = asked.path else { return .notFound }
                if path.segments.isEmpty { return .index }
                return path.segments == ["health"] && !path.endsInSlash ? .health : .notFound
            }
        )
    }

    // MARK: Sign-in and sessions

    private func hand(
        _ endpoint: Places.Endpoint,
        to portal: Portal,
        _ asked: Asked,
        _ cookies: OurCookies,
        _ head: borrowing RequestHead,
        _ connection: Connection
    ) -> Reply {
        let authority = authority(head, connection)
        let query = head.target.split(separator: "?", maxSplits: 1).dropFirst().first.map(String.init) ?? ""
        guard let path = asked.path else { return reply(asked, .doubtfulPath, nil) }
        return .later { request in
            let request = WebRequest(
                method: asked.method,
                path: path,
                query: query,
                authority: authority,
                address: asked.address,
                cookies: cookies,
                fields: request.headers,
                body: request.body
            )
            let answer = await portal.respond(at: endpoint, to: request)
            let response = answer.response
            let user = answer.report.map { ($0.username, $0.realm) } ?? answer.user.map { ($0.username, $0.realm) }
            let reason = answer.report.map(AccessLog.reason) ?? ""
            note(asked, user, status: response.status.code, length: response.body.contentLength ?? 0, reason)
            return response
        }
    }

    /// Host and port as the client has named them; behind a trusted proxy, as that says.
    private func authority(_ head: borrowing RequestHead, _ connection: Connection) -> String {
        ClientAuthority.find(
            own: head.host,
            peer: connection.peer,
            trusted: trusted,
            forwarded: head.values(named: "x-forwarded-host")
        )
    }

    // MARK: Answers

    func reply(_ asked: Asked, _ content: Content, _ known: Gate.Known?) -> Reply {
        switch lanes {
        case .both: return reply(asked, shelf.prepared(content, asHTML: asked.asHTML, known), known, "")
        case .asyncOnly: return .later { _ in response(asked, content, nil, known) }
        }
    }

    func reply(_ asked: Asked, _ response: PreparedResponse, _ known: Gate.Known?, _ reason: String) -> Reply {
        let user = known.map { ($0.user.username, $0.user.realm) }
        note(asked, user, status: response.status, length: response.bodyLength, reason)
        return .now(response)
    }

    private func response(
        _ asked: Asked,
        _ content: Content,
        _ report: LoginReport?,
        _ known: Gate.Known? = nil
    ) -> Response {
        response(asked, shelf.rendered(content, asHTML: asked.asHTML, known), report)
    }

    func response(
        _ asked: Asked,
        _ made: (head: HTTPResponse, body: ByteBuffer),
        _ report: LoginReport?
    ) -> Response {
        var (head, body) = made
        let length = body.readableBytes
        let user = report.map { ($0.username, $0.realm) }
        note(asked, user, status: head.status.code, length: length, report.map(AccessLog.reason) ?? "")
        head.headerFields[.contentLength] = String(length)
        // The length stays that of the answer to a GET, RFC 9110 section 9.3.2.
        if asked.isHead { body.clear() }
        return Response(status: head.status, headers: head.headerFields, body: ResponseBody(byteBuffer: body))
    }

    private func note(
        _ asked: Asked,
        _ user: (Username, String)?,
        status: Int,
        length: Int,
        _ reason: String
    ) {
        guard log.isOn else { return }
        var entry = AccessLog.Entry(
            peer: asked.address,
            user: user,
            method: asked.method,
            path: asked.path?.text,
            status: status,
            length: length,
            reason: asked.remark + reason
        )
        if let original = asked.original {
            let place = "\(original.host.text)\(original.path.text)"
            entry.reason = " for=\(AccessLog.quoted("\(original.method) \(place)"))" + entry.reason
        }
        log.note(entry, since: asked.begin)
    }
}
