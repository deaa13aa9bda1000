// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes
internal import HTTPTypes
internal import NIOCore
internal import RealmKit
internal import Sessions

/// The session API: its routes for sign-in, sign-out and the list of sessions.
extension SignIn {
    /// `POST /session`: begins a login with user name and password, or answers its open question.
    func createSession(_ request: WebRequest) async -> RenderedResponse {
        guard let body = await request.collectedBody() else {
            return error("too-large", status: .contentTooLarge, to: request)
        }
        let submitted: SessionRequest
        do throws(BadFields) {
            guard let read = try SessionRequest(request.contentType, body.readableBytesUInt8Span) else {
                return error("unsupported-media-type", status: .unsupportedMediaType, to: request)
            }
            submitted = read
        } catch {
            return malformed(error.description, to: request)
        }
        guard let browser = try? BrowserBinding(request) else {
            return error("unavailable", status: .serviceUnavailable, to: request)
        }
        switch submitted {
        case .answers(let number, let answers):
            return await answer(number, with: answers, browser: browser, request: request)
        case .login(let name, let password, let realm):
            // Some realms do not allow sign-ins on the web. The response is the same as for a realm that does not
            // exist.
            let named = realm.map { name in realms(openTo: request.address).first { UTF8Text($0) == name } }
            guard let username = Self.username(name), named != .some(nil) else {
                return error("invalid-credentials", status: .unauthorized, to: request)
            }
            let login = await begin(
                PendingLogin.Form(
                    username: username,
                    password: password,
                    realms: named?.map { [$0] } ?? realms,
                    whenUnavailable: whenUnavailable,
                    browser: browser.digest,
                    client: request.client
                )
            )
            return await answer(to: login, browser: browser, request: request)
        }
    }

    private func answer(
        _ number: Int,
        with answers: [Secret?],
        browser: BrowserBinding,
        request: WebRequest
    ) async -> RenderedResponse {
        var messageCount = 0
        if let question = service.pendingLogins.peek(browser.digest)?.question, question.number == number {
            // The response with the question contained its messages as the first questions.
            messageCount = question.messages.count
            let count = messageCount + question.callbacks.count
            // A form has places for further answers.
            guard answers.count >= count, answers.dropFirst(count).allSatisfy({ $0 == nil }) else {
                return malformed("not one answer for each question (\(count))", to: request)
            }
        }
        let own = answers.dropFirst(messageCount)
        switch answer(browser, number: number, secret: { own.dropFirst($0).first ?? nil }) {
        case .noPendingLogin: return error("nothing-asked", status: .conflict, to: request)
        case .anotherQuestion: return error("another-question", status: .conflict, to: request)
        case .answered(let login): return await answer(to: login, browser: browser, request: request)
        }
    }

    /// Returns the realms that a client may name: the default ones, and those of each rule that offers the form to its
    /// address.
    private func realms(openTo address: String?) -> [String] {
        realms + rules.all.filter { $0.schemes.contains(.form) && $0.matches(peer: address) }.flatMap(\.realms)
    }

    /// Returns the response to a login that has a question or has ended.
    private func answer(
        to login: PendingLogin,
        browser: BrowserBinding,
        request: WebRequest
    ) async -> RenderedResponse {
        switch await advance(login, for: request) {
        case .question(let question):
            let body: JSONValue = [
                "questions": .array((question.messages.map(Callback.message) + question.callbacks).map(\.json)),
                "number": .number(question.number),
                // The seconds that the user has for the answer.
                "expires_in": .number(Int(settings.time.components.seconds)),
            ]
            return json(body, to: request, cookies: browser.cookies)
        case .failed(.rejected, let report), .failed(.changed, let report):
            return error("invalid-credentials", status: .unauthorized, to: request, report: report)
        case .failed(_, let report):
            return error("unavailable", status: .serviceUnavailable, to: request, report: report)
        case .endNotStored(let report):
            return notStored(request, cookies: request.sessionRemoval, report: report)
        case .session(let session, let token, let report):
            let cookies = SetCookie.session(token, replacing: request.cookies.session) + [SetCookie.signInRemoval]
            var response = describe(session, token, to: request, status: .created, cookies: cookies)
            response.report = report
            return response
        }
    }

    /// `GET /session`: the session of the request, which does not count as a use of the session.
    func showSession(_ request: WebRequest) -> RenderedResponse {
        guard let (session, token) = session(request, isActivity: false) else { return noSession(request) }
        return describe(session, token, to: request)
    }

    /// `POST /session/refresh`: postpones the idle end of the session.
    func refreshSession(_ request: WebRequest) -> RenderedResponse {
        guard let (session, token) = session(request, isActivity: true) else { return noSession(request) }
        sessions.refresh(session)
        return describe(session, token, to: request)
    }

    /// `DELETE /session`: ends the session.
    func deleteSession(_ request: WebRequest) async -> RenderedResponse {
        // If there is no session, the response is 404, because a 401 would ask the client to sign in.
        let presented = presentedSessions(request, includesUnstoredEnds: true).map(\.session)
        guard let user = presented.first?.user else {
            return error("no-session", status: .notFound, to: request)
        }
        guard await end(presented.map(\.signIn), cause: .logout) else {
            return notStored(request, cookies: request.sessionRemoval, user: user)
        }
        return nothing(request.sessionRemoval, user: user)
    }

    /// `GET /sessions`: the sessions of the user.
    func listSessions(_ request: WebRequest) -> RenderedResponse {
        guard let (session, _) = session(request, isActivity: false) else { return noSession(request) }
        let list = userSessions(of: session).map { $0.listedJSON(isCurrent: $0 === session) }
        return json(["sessions": .array(list)], to: request, user: session.user)
    }

    /// `DELETE /sessions/{id}`: ends a session of the same user.
    func deleteSession(_ id: UTF8Text, request: WebRequest) async -> RenderedResponse {
        guard let (session, _) = session(request, isActivity: true) else { return noSession(request) }
        // The response does not reveal whether another user has a session with this id.
        guard let id = SessionID(id.string), let other = endable(by: session).first(where: { $0.id == id }) else {
            return error("no-such-session", status: .notFound, to: request, user: session.user)
        }
        let cookies = other === session ? request.sessionRemoval : []
        guard await end([other], cause: other === session ? .logout : .endedElsewhere) else {
            return notStored(request, cookies: cookies, user: session.user)
        }
        return nothing(cookies, user: session.user)
    }

    private func describe(
        _ session: Session,
        _ token: OpaqueToken,
        to request: WebRequest,
        status: HTTPResponse.Status = .ok,
        cookies: [String] = []
    ) -> RenderedResponse {
        let value = session.json(token: token, now: service.wallClock.seconds)
        return json(value, status: status, to: request, cookies: cookies, user: session.user)
    }

    private func noSession(_ request: WebRequest) -> RenderedResponse {
        error("no-session", status: .unauthorized, to: request)
    }

    /// 503 for a session that has ended but whose end is not stored; it removes the cookie, so that the browser is
    /// signed out.
    private func notStored(
        _ request: WebRequest,
        cookies: [String],
        user: SignedInUser? = nil,
        report: LoginReport? = nil
    ) -> RenderedResponse {
        let status = HTTPResponse.Status.serviceUnavailable
        return error("not-stored", status: status, to: request, cookies: cookies, user: user, report: report)
    }

    /// 204.
    private func nothing(_ cookies: [String], user: SignedInUser) -> RenderedResponse {
        var headers: HTTPFields = [.cacheControl: "no-store"]
        context.security.add(to: &headers)
        headers.add(cookies)
        return RenderedResponse(.noContent, headers, user: user)
    }

    // MARK: Events

    /// `GET /session/events`: server-sent events (HTML standard, section 9.2), which do not count as a use of the
    /// session.
    func showEvents(_ request: WebRequest) -> RenderedResponse {
        guard let (session, _) = session(request, isActivity: false) else { return noSession(request) }
        let last = request.fields.texts(of: .lastEventID).first.flatMap { UInt64($0.string) }
        guard let events = try? sessions.events(of: session, after: last) else {
            var answer = error("too-many-streams", status: .tooManyRequests, to: request, user: session.user)
            answer.head.headerFields[.retryAfter] = "30"
            return answer
        }
        var headers: HTTPFields = [
            .contentType: "text/event-stream; charset=utf-8", .cacheControl: "no-store", .vary: "Cookie",
            // Without this field nginx buffers the events.
            .xAccelBuffering: "no",
        ]
        context.security.add(to: &headers)
        // After the first bytes the browser reports the stream as open. `retry` is the delay before the browser
        // reconnects, in milliseconds.
        var response = RenderedResponse(
            .ok,
            headers,
            body: ByteBuffer(string: "retry: 3000\n\n"),
            user: session.user
        )
        response.events = events
        return response
    }
}

extension NumberedSessionEvent {
    /// The event as server-sent events have it.
    package var text: String {
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
