// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPTypes
public import Hummingbird
public import Logging
internal import NIOCore
public import RealmConfiguration
internal import RealmKit

/// Answers requests: path, gate, page, headers, log.
public struct GatehouseResponder: HTTPResponder {
    /// What is known of a request besides itself.
    public struct Context: InitializableFromSource {
        let peer: String?

        /// Notes the peer's address.
        public init(source: ApplicationRequestContextSource) {
            peer = source.channel.remoteAddress?.ipAddress
        }
    }

    private let gate: Gate
    private let rules: [ProtectRule]
    private let security: SecurityHeaders
    private let log: AccessLog

    /// A responder for a configuration.
    ///
    /// - Parameters:
    ///   - configuration: The realms and rules.
    ///   - isTrusted: Whether the certificate is one that clients are meant to trust; a development certificate is not.
    ///   - logger: Where a line is written for every request.
    public init(_ configuration: Configuration, isTrusted: Bool, logger: Logger) {
        gate = Gate(rules: ProtectionRules(configuration.rules), authenticator: configuration.authenticator)
        rules = configuration.rules
        security = SecurityHeaders(isTrusted: isTrusted)
        log = AccessLog(logger, clock: SystemClock())
    }

    /// Answers a request.
    ///
    /// It never throws: whatever goes wrong is an answer.
    public func respond(to request: Request, context: Context) async throws -> Response {
        let begin = log.now
        let (page, path, report) = await page(for: request, peer: context.peer)
        var response = page
        security.add(to: &response.headers)
        if request.method == .head {
            // The length stays that of the answer to a GET, RFC 9110 section 9.3.2.
            let length = response.headers[.contentLength]
            response.body = ResponseBody()
            response.headers[.contentLength] = length
        }
        log.note(request, path: path, peer: context.peer, report: report, response, since: begin)
        return response
    }

    private func page(for request: Request, peer: String?) async -> (Response, RequestPath?, LoginReport?) {
        let asHTML = request.prefersHTML
        guard let path = RequestPath(target: request.head.path ?? "") else {
            return (Page.badRequest("the path is doubtful").response(asHTML: asHTML), nil, nil)
        }
        let authorization = request.headers[values: .authorization]
        let (decision, report) = await gate.decide(path, authorization: authorization, peer: peer)
        return (answer(request, path, decision, asHTML), path, report)
    }

    private func answer(_ request: Request, _ path: RequestPath, _ decision: Gate.Decision, _ asHTML: Bool) -> Response
    {
        switch decision {
        case .challenge(let challenge, let wasRefused):
            return Page.unauthorized(challenge, wasRefused: wasRefused).response(asHTML: asHTML)
        case .forbidden(let identity): return Page.forbidden(identity).response(asHTML: asHTML)
        case .malformed(let reason): return Page.badRequest(reason).response(asHTML: asHTML)
        case .unavailable: return Page.unavailable.response(asHTML: asHTML)
        case .allowed(let identity):
            guard request.isSafe else { return Page.methodNotAllowed.response(asHTML: asHTML) }
            // Even where a rule protects everything, the pages it shows have their style.
            return path.text == "/style.css" ? Self.stylesheet : Page.welcome(identity).response(asHTML: asHTML)
        case .open:
            guard request.isSafe else { return Page.methodNotAllowed.response(asHTML: asHTML) }
            switch path.text {
            case "/": return Page.index(rules).response(asHTML: asHTML)
            case "/style.css": return Self.stylesheet
            default: return Page.notFound.response(asHTML: asHTML)
            }
        }
    }

    private static var stylesheet: Response {
        let body = ByteBuffer(string: PageTemplate.stylesheet)
        let headers: HTTPFields = [
            .contentType: "text/css; charset=utf-8",
            .cacheControl: "max-age=3600",
            .contentLength: String(body.readableBytes),
        ]
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: body))
    }
}

extension Request {
    /// Whether the request only reads.
    var isSafe: Bool { method == .get || method == .head }
}
