// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes
internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
internal import Sessions

/// The event stream of a session.
///
/// Source: server-sent events of the HTML standard, section 9.2.
extension SessionAPI {
    /// `GET /session/events`: the event stream of the session.
    ///
    /// The request does not count as a use of the session.
    func events(_ request: WebRequest) -> LoggedResponse {
        guard let (session, _) = session(request, isActivity: false) else {
            return LoggedResponse(error("no-session", status: .unauthorized, to: request))
        }
        let last = request.fields.texts(of: .lastEventID).first.flatMap { UInt64($0.string) }
        let events: SessionEvents
        do throws(SessionFault) {
            events = try sessions.events(of: session, after: last)
        } catch {
            var response = self.error("too-many-streams", status: .tooManyRequests, to: request)
            response.headers[.retryAfter] = "30"
            return LoggedResponse(response, user: session.user)
        }
        var headers: HTTPFields = [
            .contentType: "text/event-stream; charset=utf-8", .cacheControl: "no-store", .vary: "Cookie",
            // Without this field nginx buffers the events.
            .xAccelBuffering: "no",
        ]
        context.security.add(to: &headers)
        guard request.method != "HEAD" else {
            return LoggedResponse(Response(status: .ok, headers: headers), user: session.user)
        }
        let body = ResponseBody { writer in
            // After the first bytes the browser reports the stream as open. `retry` is the delay before the browser
            // reconnects, in milliseconds.
            try await writer.write(ByteBuffer(string: "retry: 3000\n\n"))
            for await event in events {
                try await writer.write(ByteBuffer(string: event.text))
            }
            try await writer.finish(nil)
        }
        return LoggedResponse(Response(status: .ok, headers: headers, body: body), user: session.user)
    }
}

extension NumberedSessionEvent {
    /// The event in the format of the stream.
    fileprivate var text: String {
        switch event {
        case .heartbeat: ":\n\n"
        case .closing: ": the stream ends\n\n"
        case .expiring(let seconds): encoded("expiring", ["in": seconds])
        case .extended(let expiry): encoded("extended", ["idle_expires_at": expiry])
        case .ended(let cause): encoded("ended", ["cause": cause.rawValue])
        case .message(let text): encoded("message", ["text": text])
        }
    }

    private func encoded(_ name: String, _ data: [String: some Encodable]) -> String {
        let id = number.map { "id: \($0)\n" } ?? ""
        return "\(id)event: \(name)\ndata: \(JSONText.of(data))\n\n"
    }
}
