// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPServer
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import RealmConfiguration
internal import RealmKit

/// Answers requests: path, gate, page, log.
///
/// Both lanes take the same way: ``content(_:_:)`` after ``Gate/begin(_:_:peer:)``, or after ``Gate/decide(_:)`` where
/// somebody has to be logged in first.
struct GatehouseResponder: Responder {
    /// Which requests are answered on the event loop.
    enum Lanes: Sendable {
        /// Those that need no login.
        case both
        /// None: for tests that compare the two.
        case asyncOnly
    }

    private let gate: Gate
    private let shelf: PageShelf
    private let log: AccessLog
    private let asksClients: Bool
    private let lanes: Lanes

    /// A responder for a configuration.
    ///
    /// - Parameters:
    ///   - gate: Who decides.
    ///   - shelf: What is shown.
    ///   - log: Where a line is written for every request.
    ///   - asksClients: Whether TLS asks clients for certificates. Then a request must be for the host that TLS was set up
    ///     for: another may ask other certificates (CVE-2025-23419, RFC 9110 section 7.4).
    ///   - lanes: Which requests are answered on the event loop.
    init(gate: Gate, shelf: PageShelf, log: AccessLog, asksClients: Bool = false, lanes: Lanes = .both) {
        self.gate = gate
        self.shelf = shelf
        self.log = log
        self.asksClients = asksClients
        self.lanes = lanes
    }

    /// What is known of a request before it is answered.
    private struct Asked: Sendable {
        let isSafe: Bool
        let isHead: Bool
        let asHTML: Bool
        let path: RequestPath?
        let begin: UInt64
        /// For the log; empty if there is none.
        let method: String
        let peer: String?
    }

    func respond(to head: borrowing RequestHead, on connection: Connection) -> Reply {
        let asked = Asked(
            isSafe: head.method == .get || head.method == .head,
            isHead: head.method == .head,
            asHTML: head.withFirst(.accept) { AcceptField.prefersHTML($0) } ?? false,
            path: head.withTarget { RequestPath(target: $0) },
            begin: log.now,
            method: log.isOn ? head.methodText : "",
            peer: connection.peer
        )
        if asksClients, let name = connection.serverName, !head.isFor(host: name) {
            return reply(asked, .misdirected, nil)
        }
        guard let path = asked.path else { return reply(asked, .doubtfulPath, nil) }
        let beginning = gate.begin(
            path,
            {
                head.withFirst(.authorization) { BasicScheme.read($0, count: head.count(of: .authorization)) }
                    ?? .nothing
            },
            peer: connection.peer
        )
        switch beginning {
        case .decided(let decision, let known): return reply(asked, content(asked, decision), known)
        case .login(let login):
            return .later { _ in
                let (decision, report) = await gate.decide(login)
                return response(asked, content(asked, decision), report)
            }
        }
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

    private func reply(_ asked: Asked, _ content: Content, _ known: Gate.Known?) -> Reply {
        switch lanes {
        case .both:
            let response = shelf.prepared(content, asHTML: asked.asHTML, known)
            let user = (known?.entry.identity).map { ($0.username, $0.realm) }
            note(asked, user, status: response.status, length: response.bodyLength, "")
            return .now(response)
        case .asyncOnly:
            return .later { _ in response(asked, content, nil) }
        }
    }

    private func response(_ asked: Asked, _ content: Content, _ report: LoginReport?) -> Response {
        var (head, body) = shelf.rendered(content, asHTML: asked.asHTML)
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
        let entry = AccessLog.Entry(
            peer: asked.peer,
            user: user,
            method: asked.method,
            path: asked.path?.text,
            status: status,
            length: length,
            reason: reason
        )
        log.note(entry, since: asked.begin)
    }

    private func content(_ asked: Asked, _ decision: Gate.Decision) -> Content {
        switch decision {
        case .challenge(let realm, let wasRefused): return .unauthorized(realm: realm, wasRefused: wasRefused)
        case .forbidden(let identity): return .forbidden(identity)
        case .malformed(let reason): return .malformed(reason)
        case .unavailable: return .unavailable
        case .allowed(let identity):
            guard asked.isSafe else { return .methodNotAllowed }
            // Even where a rule protects everything, the pages it shows have their style.
            return isStylesheet(asked) ? .stylesheet : .welcome(identity)
        case .open:
            guard asked.isSafe else { return .methodNotAllowed }
            if let path = asked.path, path.segments.isEmpty { return .index }
            if let path = asked.path, path.segments == ["health"], !path.endsInSlash { return .health }
            return isStylesheet(asked) ? .stylesheet : .notFound
        }
    }

    private func isStylesheet(_ asked: Asked) -> Bool {
        guard let path = asked.path else { return false }
        return path.segments == ["style.css"] && !path.endsInSlash
    }
}
