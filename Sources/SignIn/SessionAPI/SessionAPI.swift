// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import AccessControl
internal import Bytes
internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
internal import OpenSSLKit
internal import RealmConfiguration
internal import RealmKit
internal import Sessions

/// The session API.
struct SessionAPI: SignInComponent {
    let site: SignInSite
    var login: LoginFlow { LoginFlow(site: site) }

    /// `POST /session`: user name and password, or the answers to a question.
    func createSession(_ request: WebRequest) async -> LoggedResponse {
        guard let body = await request.collectedBody() else {
            return LoggedResponse(error("too-large", status: .contentTooLarge, to: request))
        }
        let content: SessionRequest
        do throws(BadFields) {
            guard let read = try SessionRequest(request.contentType, body.readableBytesUInt8Span) else {
                return LoggedResponse(error("unsupported-media-type", status: .unsupportedMediaType, to: request))
            }
            content = read
        } catch {
            let fault = JSONValue.object([("error", .string("malformed")), ("reason", .string(error.description))])
            return LoggedResponse(json(fault, status: .badRequest, to: request))
        }
        let browser: BrowserBinding
        do throws(OpenSSLError) {
            browser = try BrowserBinding(request)
        } catch {
            return LoggedResponse(self.error("unavailable", status: .serviceUnavailable, to: request))
        }
        switch content {
        case .answers(let number, let answers):
            switch login.answer(browser, number: number, secret: { answers.indices.contains($0) ? answers[$0] : nil }) {
            case .nothingWaits: return LoggedResponse(error("nothing-asked", status: .conflict, to: request))
            case .anotherQuestion: return LoggedResponse(error("another-question", status: .conflict, to: request))
            case .answered(let begun, _):
                return await proceed(with: begun, browser: browser, request: request, isNew: false)
            }
        case .login(let name, let password, let realm):
            // A realm without a sign-in on the web is rejected like one that does not exist.
            let chosen = realm.map { named in realms(openTo: request.address).first { UTF8Text($0) == named } }
            guard let username = LoginFlow.username(name), chosen != .some(nil) else {
                return LoggedResponse(error("invalid-credentials", status: .unauthorized, to: request))
            }
            if let before = session(request, isActivity: false), await !end(before.session, cause: .replaced) {
                return LoggedResponse(notStored(request))
            }
            let begun = await login.begin(
                as: username,
                password: password,
                in: chosen?.map { [$0] } ?? realms,
                for: request
            )
            return await proceed(with: begun, browser: browser, request: request, isNew: true)
        }
    }

    /// Returns the realms that a client may name: those of the sign-in page, and of rules that offer it to its address.
    private func realms(openTo address: String?) -> [String] {
        realms + rules.all.filter { $0.schemes.contains(.form) && $0.matches(peer: address) }.flatMap(\.realms)
    }

    /// Waits until the login has a question or has ended, and returns the response.
    private func proceed(
        with begun: LoginFlow.Begun,
        browser: BrowserBinding,
        request: WebRequest,
        isNew: Bool
    ) async -> LoggedResponse {
        let attempt: RealmLogin
        switch await begun.login.next() {
        case .questions(let questions, let number):
            login.keep(
                begun,
                asking: questions,
                number: number,
                target: nil,
                browser: browser,
                request: request,
                isNew: isNew
            )
            let content = JSONValue.object([
                ("questions", .array((begun.login.messages.map(Callback.message) + questions).map(\.json))),
                ("number", .integer(number)),
                ("expires_in", .integer(Int(settings.time.components.seconds))),
            ])
            return LoggedResponse(json(content, to: request, cookies: browser.cookies))
        case .finished(let finished): attempt = finished
        }
        switch attempt.outcome {
        case .rejected(let report):
            state.noteRefusal(report)
            return LoggedResponse(error("invalid-credentials", status: .unauthorized, to: request), report: report)
        case .unavailable(let report):
            state.noteRefusal(report)
            return LoggedResponse(error("unavailable", status: .serviceUnavailable, to: request), report: report)
        case .accepted(let identity, let report):
            switch await login.establish(identity, since: begun.began, browser: browser, request: request) {
            case .session(let session, let token):
                let cookies = [SetCookie.session(token), SetCookie.signInRemoval]
                let content = describe(session, token: token)
                return LoggedResponse(
                    json(content, status: .created, to: request, cookies: cookies),
                    report: report,
                    user: session.user
                )
            case .notice(.changed):
                return LoggedResponse(error("invalid-credentials", status: .unauthorized, to: request), report: report)
            case .notice:
                return LoggedResponse(error("unavailable", status: .serviceUnavailable, to: request), report: report)
            }
        }
    }

    /// `GET /session`; it does not count as activity.
    func showSession(_ request: WebRequest) -> LoggedResponse {
        guard let (session, token) = session(request, isActivity: false) else { return noSession(request) }
        return LoggedResponse(json(describe(session, token: token), to: request), user: session.user)
    }

    /// `POST /session/refresh`.
    func refreshSession(_ request: WebRequest) -> LoggedResponse {
        guard let (session, token) = session(request, isActivity: true) else { return noSession(request) }
        sessions.refresh(session)
        return LoggedResponse(json(describe(session, token: token), to: request), user: session.user)
    }

    /// `DELETE /session`.
    func deleteSession(_ request: WebRequest) async -> LoggedResponse {
        // A client does not need to sign in to end a session, so a missing one is 404 and not 401.
        guard let session = session(request, isActivity: false)?.session ?? unsettledEnd(request) else {
            return LoggedResponse(error("no-session", status: .notFound, to: request))
        }
        guard await end(session, cause: .logout) else { return LoggedResponse(notStored(request), user: session.user) }
        return LoggedResponse(nothing([SetCookie.sessionRemoval]), user: session.user)
    }

    /// Returns 503: the session has ended, but its end is not stored.
    ///
    /// The response removes the cookie, so the browser is signed out in any case.
    private func notStored(_ request: WebRequest, cookies: [String] = [SetCookie.sessionRemoval]) -> Response {
        error("not-stored", status: .serviceUnavailable, to: request, cookies: cookies)
    }

    /// `GET /sessions`: the sessions of the user.
    func listSessions(_ request: WebRequest) -> LoggedResponse {
        guard let (session, _) = session(request, isActivity: false) else { return noSession(request) }
        let list = own(session).map { other in
            JSONValue.object([
                ("id", .string(other.id.description)),
                ("device", .string(DeviceName.of(other.client.userAgent.utf8Span.span))),
                ("host", .string(other.host.name)),
                ("address", other.client.address.map(JSONValue.string) ?? .null),
                ("created", .integer(other.created)),
                ("last_seen", .integer(other.lastSeen)),
                ("current", .bool(other === session)),
            ])
        }
        return LoggedResponse(json(.object([("sessions", .array(list))]), to: request), user: session.user)
    }

    /// `DELETE /sessions/{id}`.
    func deleteSession(_ id: UTF8Text, request: WebRequest) async -> LoggedResponse {
        guard let (session, _) = session(request, isActivity: true) else { return noSession(request) }
        // A session of another user gets the same response as one that never existed.
        guard let id = SessionID(id.string), let other = endable(by: session).first(where: { $0.id == id }) else {
            return LoggedResponse(error("no-such-session", status: .notFound, to: request), user: session.user)
        }
        let cookies = other === session ? [SetCookie.sessionRemoval] : []
        guard await end(other, cause: other === session ? .logout : .endedElsewhere) else {
            return LoggedResponse(notStored(request, cookies: cookies), user: session.user)
        }
        return LoggedResponse(nothing(cookies), user: session.user)
    }

    private func noSession(_ request: WebRequest) -> LoggedResponse {
        LoggedResponse(error("no-session", status: .unauthorized, to: request))
    }

    /// Returns 204 with the cookies and without a body.
    private func nothing(_ cookies: [String]) -> Response {
        var headers: HTTPFields = [.cacheControl: "no-store"]
        context.security.add(to: &headers)
        for cookie in cookies { headers.append(HTTPField(name: .setCookie, value: cookie)) }
        return Response(status: .noContent, headers: headers)
    }

    private func describe(_ session: Session, token: OpaqueToken) -> JSONValue {
        .object([
            ("id", .string(session.id.description)),
            ("user", .string(session.user.username.text)),
            ("realm", .string(session.user.realm)),
            ("host", .string(session.host.name)),
            ("groups", .array(session.user.groups.map(JSONValue.string))),
            ("created", .integer(session.created)),
            ("last_seen", .integer(session.lastSeen)),
            ("idle_expires_at", .integer(session.idleExpiry)),
            ("absolute_expires_at", .integer(session.absoluteExpiry)),
            ("warn_at", .integer(session.warningTime)),
            ("now", .integer(state.wall.seconds)),
            ("csrf", CSRFToken.text(token).map(JSONValue.string) ?? .null),
        ])
    }
}

extension Callback {
    /// The callback in the format of the session API.
    fileprivate var json: JSONValue {
        switch self {
        case .name(let prompt): .object([("type", .string("name")), ("prompt", .string(prompt))])
        case .password(let prompt): .object([("type", .string("password")), ("prompt", .string(prompt))])
        case .oneTimeCode(let prompt): .object([("type", .string("one-time-code")), ("prompt", .string(prompt))])
        case .certificate: .object([("type", .string("certificate"))])
        case .message(let text): .object([("type", .string("message")), ("text", .string(text))])
        }
    }
}
