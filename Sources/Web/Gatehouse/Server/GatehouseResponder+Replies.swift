// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import HTTPServer
internal import Hummingbird
internal import RealmKit
internal import SignIn

/// Replies, and their lines in the access log.
extension GatehouseResponder {
    /// Replies with a standard response.
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
                let rendered = responses.renderer.render(response, as: received.representation, for: authentication)
                return finish(PreparedResponse(rendered), to: received, after: nil, for: authentication)
            }
        }
    }

    /// Replies with an encoded response.
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

    /// Writes the line of a request in the access log.
    func logAccess(
        _ received: ReceivedRequest,
        user: (Username, String)?,
        status: Int,
        length: Int,
        reason: String
    ) {
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
