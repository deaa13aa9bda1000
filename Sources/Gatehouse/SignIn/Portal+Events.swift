// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
internal import Sessions

/// The events of a session, pushed to whoever has it.
///
/// Source: server-sent events of the HTML standard, section 9.2.
extension Portal {
    /// `GET /session/events`; listening is no activity.
    func events(_ request: WebRequest) -> Answer {
        guard let (session, _) = session(request, isActivity: false) else {
            return Answer(error("no-session", .unauthorized, request))
        }
        let last = request.fields[.lastEventID].flatMap { UInt64($0) }
        let events: SessionEvents
        do throws(SessionFault) {
            events = try sessions.events(of: session, after: last)
        } catch {
            var response = self.error("too-many-streams", .tooManyRequests, request)
            response.headers[.retryAfter] = "30"
            return Answer(response, user: session.user)
        }
        var headers: HTTPFields = [
            .contentType: "text/event-stream; charset=utf-8", .cacheControl: "no-store", .vary: "Cookie",
            // nginx would collect the events otherwise.
            .xAccelBuffering: "no",
        ]
        frame.security.add(to: &headers)
        guard request.method != "HEAD" else {
            return Answer(Response(status: .ok, headers: headers), user: session.user)
        }
        let body = ResponseBody { writer in
            // So that the browser knows that the stream stands, and how long to wait after it breaks.
            try await writer.write(ByteBuffer(string: "retry: 3000\n\n"))
            for await event in events {
                try await writer.write(ByteBuffer(string: event.text))
            }
            try await writer.finish(nil)
        }
        return Answer(Response(status: .ok, headers: headers, body: body), user: session.user)
    }
}

extension NumberedSessionEvent {
    /// As it goes over the wire.
    fileprivate var text: String {
        switch event {
        case .heartbeat: ":\n\n"
        case .closing: ": the server is stopping\n\n"
        case .expiring(let seconds): wire("expiring", [("in", .integer(seconds))])
        case .extended(let expiry): wire("extended", [("idle_expires_at", .integer(expiry))])
        case .ended(let cause): wire("ended", [("cause", .string(cause.rawValue))])
        case .message(let text): wire("message", [("text", .string(text))])
        }
    }

    private func wire(_ name: String, _ data: [(String, JSONValue)]) -> String {
        let id = number.map { "id: \($0)\n" } ?? ""
        return "\(id)event: \(name)\ndata: \(JSONValue.object(data).text)\n\n"
    }
}
