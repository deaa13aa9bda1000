// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes
internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
internal import RealmConfiguration
internal import RealmKit
internal import Sessions

/// The session API: its routes for sign-in, sign-out and the list of sessions.
struct SessionAPI: SignInComponent {
    let site: SignInSite
    var login: LoginFlow { LoginFlow(site: site) }

    /// `POST /session`: begins a login with user name and password, or answers its open question.
    func createSession(_ request: WebRequest) async -> LoggedResponse {
        guard let body = await request.collectedBody() else {
            return LoggedResponse(error("too-large", status: .contentTooLarge, to: request))
        }
        let submitted: SessionRequest
        do throws(BadFields) {
            guard let read = try SessionRequest(request.contentType, body.readableBytesUInt8Span) else {
                return LoggedResponse(error("unsupported-media-type", status: .unsupportedMediaType, to: request))
            }
            submitted = read
        } catch {
            return LoggedResponse(malformed(error.description, to: request))
        }
        guard let browser = try? BrowserBinding(request) else {
            return LoggedResponse(error("unavailable", status: .serviceUnavailable, to: request))
        }
        switch submitted {
        case .answers(let number, let answers):
            return await answer(number, with: answers, browser: browser, request: request)
        case .login(let name, let password, let realm):
            // Some realms do not allow sign-ins on the web. The response is the same as for a realm that does not
            // exist.
            let named = realm.map { name in realms(openTo: request.address).first { UTF8Text($0) == name } }
            guard let username = LoginFlow.username(name), named != .some(nil) else {
                return LoggedResponse(error("invalid-credentials", status: .unauthorized, to: request))
            }
            let begun = await login.begin(
                as: username,
                password: password,
                in: named?.map { [$0] } ?? realms,
                whenUnavailable: site.whenUnavailable,
                destination: Destination(),
                browser: browser,
                request: request
            )
            return await proceed(with: begun, browser: browser, request: request)
        }
    }

    private func answer(
        _ number: Int,
        with answers: [Secret?],
        browser: BrowserBinding,
        request: WebRequest
    ) async -> LoggedResponse {
        var messageCount = 0
        if let question = state.pendingLogins.peek(browser.digest)?.question, question.number == number {
            // The response with the question contained its messages as the first questions.
            messageCount = question.messages.count
            let count = messageCount + question.callbacks.count
            // A form has places for further answers.
            guard answers.count >= count, answers.dropFirst(count).allSatisfy({ $0 == nil }) else {
                return LoggedResponse(malformed("not one answer for each question (\(count))", to: request))
            }
        }
        let own = answers.dropFirst(messageCount)
        switch login.answer(browser, number: number, secret: { own.dropFirst($0).first ?? nil }) {
        case .noPendingLogin: return LoggedResponse(error("nothing-asked", status: .conflict, to: request))
        case .anotherQuestion: return LoggedResponse(error("another-question", status: .conflict, to: request))
        case .answered(let pending): return await proceed(with: pending, browser: browser, request: request)
        }
    }

    /// Returns the realms that a client may name: the default ones, and those of each rule that offers the form to its
    /// address.
    private func realms(openTo address: String?) -> [String] {
        realms + rules.all.filter { $0.schemes.contains(.form) && $0.matches(peer: address) }.flatMap(\.realms)
    }

    private func proceed(
        with pending: LoginFlow.Login,
        browser: BrowserBinding,
        request: WebRequest
    ) async -> LoggedResponse {
        switch await login.advance(pending, for: request) {
        case .question(let question):
            let body: JSONValue = [
                "questions": .array((question.messages.map(Callback.message) + question.callbacks).map(\.json)),
                "number": .number(question.number),
                // The seconds that the user has for the answer.
                "expires_in": .number(Int(settings.time.components.seconds)),
            ]
            return LoggedResponse(json(body, to: request, cookies: browser.cookies))
        case .failed(.rejected, let report), .failed(.changed, let report):
            return LoggedResponse(error("invalid-credentials", status: .unauthorized, to: request), report: report)
        case .failed(_, let report):
            return LoggedResponse(error("unavailable", status: .serviceUnavailable, to: request), report: report)
        case .endNotStored(let report): return LoggedResponse(notStored(request), report: report)
        case .session(let session, let token, let report):
            let cookies = SetCookie.session(token, replacing: request.cookies.session) + [SetCookie.signInRemoval]
            return LoggedResponse(
                json(describe(session, token: token), status: .created, to: request, cookies: cookies),
                report: report,
                user: session.user
            )
        }
    }

    /// `GET /session`: the session of the request, which does not count as a use of the session.
    func showSession(_ request: WebRequest) -> LoggedResponse {
        guard let (session, token) = session(request, isActivity: false) else { return noSession(request) }
        return LoggedResponse(json(describe(session, token: token), to: request), user: session.user)
    }

    /// `POST /session/refresh`: postpones the idle end of the session.
    func refreshSession(_ request: WebRequest) -> LoggedResponse {
        guard let (session, token) = session(request, isActivity: true) else { return noSession(request) }
        sessions.refresh(session)
        return LoggedResponse(json(describe(session, token: token), to: request), user: session.user)
    }

    /// `DELETE /session`: ends the session.
    func deleteSession(_ request: WebRequest) async -> LoggedResponse {
        // If there is no session, the response is 404, because a 401 would ask the client to sign in.
        let presented = presentedSessions(request, includesUnstoredEnds: true).map(\.session)
        guard let session = presented.first else {
            return LoggedResponse(error("no-session", status: .notFound, to: request))
        }
        guard await end(presented.map(\.signIn), cause: .logout) else {
            return LoggedResponse(notStored(request), user: session.user)
        }
        return LoggedResponse(nothing(request.sessionRemoval), user: session.user)
    }

    /// 503 for a session that has ended but whose end is not stored; it removes the cookie, so that the browser is
    /// signed out.
    private func notStored(_ request: WebRequest, cookies: [String]? = nil) -> Response {
        let cookies = cookies ?? request.sessionRemoval
        return error("not-stored", status: .serviceUnavailable, to: request, cookies: cookies)
    }

    /// `GET /sessions`: the sessions of the user.
    func listSessions(_ request: WebRequest) -> LoggedResponse {
        guard let (session, _) = session(request, isActivity: false) else { return noSession(request) }
        let list = userSessions(of: session).map { $0.listedJSON(isCurrent: $0 === session) }
        return LoggedResponse(json(["sessions": .array(list)], to: request), user: session.user)
    }

    /// `DELETE /sessions/{id}`: ends a session of the same user.
    func deleteSession(_ id: UTF8Text, request: WebRequest) async -> LoggedResponse {
        guard let (session, _) = session(request, isActivity: true) else { return noSession(request) }
        // The response does not reveal whether another user has a session with this id.
        guard let id = SessionID(id.string), let other = endable(by: session).first(where: { $0.id == id }) else {
            return LoggedResponse(error("no-such-session", status: .notFound, to: request), user: session.user)
        }
        let cookies = other === session ? request.sessionRemoval : []
        guard await end(other, cause: other === session ? .logout : .endedElsewhere) else {
            return LoggedResponse(notStored(request, cookies: cookies), user: session.user)
        }
        return LoggedResponse(nothing(cookies), user: session.user)
    }

    private func noSession(_ request: WebRequest) -> LoggedResponse {
        LoggedResponse(error("no-session", status: .unauthorized, to: request))
    }

    /// 204.
    private func nothing(_ cookies: [String]) -> Response {
        var headers: HTTPFields = [.cacheControl: "no-store"]
        context.security.add(to: &headers)
        for cookie in cookies { headers.append(HTTPField(name: .setCookie, value: cookie)) }
        return Response(status: .noContent, headers: headers)
    }

    private func describe(_ session: Session, token: OpaqueToken) -> JSONValue {
        session.json(token: token, now: state.wallClock.seconds)
    }
}

/// The event stream of a session: server-sent events of the HTML standard, section 9.2.
extension SessionAPI {
    /// `GET /session/events`, which does not count as a use of the session.
    func events(_ request: WebRequest) -> LoggedResponse {
        guard let (session, _) = session(request, isActivity: false) else {
            return LoggedResponse(error("no-session", status: .unauthorized, to: request))
        }
        let last = request.fields.texts(of: .lastEventID).first.flatMap { UInt64($0.string) }
        guard let events = try? sessions.events(of: session, after: last) else {
            var response = error("too-many-streams", status: .tooManyRequests, to: request)
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
    fileprivate var text: String {
        switch event {
        case .heartbeat: ":\n\n"
        case .closing: ": the stream ends\n\n"
        case .expiring(let seconds): encoded("expiring", ["in": .number(seconds)])
        case .extended(let expiry): encoded("extended", ["idle_expires_at": .number(expiry)])
        case .ended(let cause): encoded("ended", ["cause": .text(cause.rawValue)])
        case .message(let text): encoded("message", ["text": .text(text)])
        }
    }

    private func encoded(_ name: String, _ data: JSONValue) -> String {
        let id = number.map { "id: \($0)\n" } ?? ""
        return "\(id)event: \(name)\ndata: \(data.text(.web))\n\n"
    }
}
