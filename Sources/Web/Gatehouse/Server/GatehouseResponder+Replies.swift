// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes
internal import HTTPServer
internal import RealmConfiguration
internal import RealmKit
internal import SignIn

/// Replies, and their lines in the access log.
extension GatehouseResponder {
    func reply(
        to received: ReceivedRequest,
        with response: StandardResponse,
        for authentication: ExistingAuthentication? = nil
    ) -> ResponseMode {
        switch lanes {
        case .both:
            let prepared = responses.prepared(response, as: received.representation, for: authentication)
            return reply(to: received, with: prepared, for: authentication)
        case .asyncOnly:
            return .prepared(beginsOnEventLoop: false) { [self] in
                let rendered = responses.signIn.render(response, as: received.representation, for: authentication)
                return finish(PreparedResponse(rendered), to: received, after: nil, for: authentication)
            }
        }
    }

    func reply(
        to received: ReceivedRequest,
        with response: PreparedResponse,
        for authentication: ExistingAuthentication? = nil,
        reason: String = ""
    ) -> ResponseMode {
        logAccess(
            received,
            user: authentication.map { ($0.user.username, $0.user.realm) },
            status: response.status,
            length: response.bodyLength,
            reason: reason
        )
        return .immediate(response)
    }

    /// Refuses a request, because too many requests of its client, or of all clients, are in progress.
    ///
    /// Over HTTP/1 it gets the given response, or the page with status 503.
    func refuse(_ received: ReceivedRequest, with response: PreparedResponse? = nil) -> ResponseMode {
        let response = response ?? responses.prepared(.unavailable, as: received.representation, for: nil)
        _ = reply(to: received, with: response, reason: " too-many-requests")
        return .refused(response)
    }

    /// Logs the response of a task and returns it.
    func finish(
        _ response: PreparedResponse,
        to received: ReceivedRequest,
        after report: LoginReport?,
        for authentication: ExistingAuthentication?
    ) -> PreparedResponse {
        // An accepted user has one name, whatever spelling was sent.
        let login = report.map { ($0.identity?.username ?? $0.username, $0.realm) }
        logAccess(
            received,
            user: login ?? authentication.map { ($0.user.username, $0.user.realm) },
            status: response.status,
            length: response.bodyLength,
            reason: report.map { LogText.reason($0) } ?? ""
        )
        return response
    }

    func logAccess(_ received: ReceivedRequest, user: (Username, String)?, status: Int, length: Int, reason: String) {
        guard log.isEnabled else { return }
        let entry = AccessLog.Entry(
            peer: received.client.address,
            user: user,
            method: received.method,
            path: received.path,
            status: status,
            length: length,
            original: received.original,
            remarks: (received.remark, reason, received.rule)
        )
        log.write(entry, since: received.begin)
    }
}

/// The properties of a request that its response and its line in the access log need.
struct ReceivedRequest: Sendable {
    let method: String
    /// GET or HEAD.
    let isSafe: Bool
    /// The form of a page that suits the client.
    let representation: Representation
    /// The path; nil if it is ambiguous.
    let path: RequestPath?
    /// The time at which the request was received; 0 if the access log is disabled.
    let begin: UInt64
    var client: RequestClient
    /// The original request that a proxy describes in a forward-auth request.
    var original: OriginalRequest?
    /// A remark for the access log.
    var remark = ""
    /// The rule of a refused request, for the access log.
    var rule = ""

    init(_ head: borrowing RequestHead, on connection: Connection, at time: UInt64, _ translations: Translations) {
        method = head.methodText
        isSafe = head.method == .get || head.method == .head
        representation = Representation(
            isHTML: head.withFirst(.accept) { AcceptField.prefersHTML($0) } ?? false,
            language: head.withFirst(.acceptLanguage) { AcceptLanguageField.index(for: $0, in: translations) } ?? 0
        )
        path = head.withTarget { RequestPath(target: $0) }
        begin = time
        client = RequestClient(address: connection.peer)
    }

    /// Returns the kind of the client; to be called only if the response depends on it.
    func clientKind(_ head: borrowing RequestHead) -> ClientKind {
        ClientKind(
            mode: head.values(named: "sec-fetch-mode").first,
            requestedWith: head.values(named: "x-requested-with").first,
            prefersHTML: representation.isHTML
        )
    }
}

extension RequestHead: RequestFields {
    package var hostText: String { host }

    package func forEachCookieField(_ body: (Span<UInt8>) -> Void) { forEach(.cookie, body) }
}
