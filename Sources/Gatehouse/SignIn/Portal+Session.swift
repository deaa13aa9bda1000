// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
internal import OpenSSLKit
internal import RealmConfiguration
internal import RealmKit
internal import Sessions

/// The session API.
extension Portal {
    /// `POST /session`: name and password, or answers to what was asked.
    func createSession(_ request: WebRequest) async -> Answer {
        guard let body = await request.collectedBody() else {
            return Answer(error("too-large", .contentTooLarge, request))
        }
        let asked: SessionRequest
        do throws(BadFields) {
            guard let read = try SessionRequest(request.contentType, body.readableBytesUInt8Span) else {
                return Answer(error("unsupported-media-type", .unsupportedMediaType, request))
            }
            asked = read
        } catch {
            let fault = JSONValue.object([("error", .string("malformed")), ("reason", .string(error.description))])
            return Answer(json(fault, status: .badRequest, request))
        }
        let browser: Browser
        do throws(OpenSSLError) {
            browser = try Browser(request)
        } catch {
            return Answer(self.error("unavailable", .serviceUnavailable, request))
        }
        switch asked {
        case .answers(let number, let answers):
            switch answer(browser, number, { answers.indices.contains($0) ? answers[$0] : nil }) {
            case .nothingWaits: return Answer(error("nothing-asked", .conflict, request))
            case .notThisOne: return Answer(error("another-question", .conflict, request))
            case .answered(let begun, _): return await told(begun, browser, request, isNew: false)
            }
        case .login(let name, let password, let realm):
            let open = realms(openTo: request.address)
            // A realm that nobody signs in to on the web is as unknown as one that is not there.
            guard let username = Self.username(name), realm.map(open.contains) ?? true else {
                return Answer(error("invalid-credentials", .unauthorized, request))
            }
            if let before = session(request, isActivity: false) { await sessions.end(before.session, .replaced) }
            let begun = begin(username, password, realms: realm.map { [$0] } ?? realms, request)
            return await told(begun, browser, request, isNew: true)
        }
    }

    /// The realms that may be named: those of the sign-in page, and of rules that offer it to whoever asks from there.
    private func realms(openTo address: String?) -> [String] {
        realms + rules.all.filter { $0.schemes.contains(.form) && $0.covers(peer: address) }.flatMap(\.realms)
    }

    /// Waits until the login asks something or has ended, and tells what comes of it.
    private func told(_ begun: Begun, _ browser: Browser, _ request: WebRequest, isNew: Bool) async -> Answer {
        let attempt: SignInAttempt
        switch await begun.dialogue.next() {
        case .questions(let questions, let number):
            wait(begun, questions, number, nil, browser, request, isNew: isNew)
            let told = JSONValue.object([
                ("questions", .array((begun.dialogue.messages.map(Callback.message) + questions).map(\.json))),
                ("number", .integer(number)),
                ("expires_in", .integer(Int(settings.time.components.seconds))),
            ])
            return Answer(json(told, request, cookies: browser.cookies))
        case .finished(let finished): attempt = finished
        }
        switch attempt.outcome {
        case .refused(let report):
            state.noteRefusal(report)
            return Answer(error("invalid-credentials", .unauthorized, request), report: report)
        case .unavailable(let report):
            state.noteRefusal(report)
            return Answer(error("unavailable", .serviceUnavailable, request), report: report)
        case .accepted(let identity, let report):
            switch await establish(identity, begun.began, browser, request) {
            case .session(let session, let token):
                let cookies = [SetCookie.session(token), SetCookie.signInRemoval]
                let told = describe(session, token)
                return Answer(
                    json(told, status: .created, request, cookies: cookies),
                    report: report,
                    user: session.user
                )
            case .notice(.changed): return Answer(error("invalid-credentials", .unauthorized, request), report: report)
            case .notice: return Answer(error("unavailable", .serviceUnavailable, request), report: report)
            }
        }
    }

    /// `GET /session`; asking is no activity.
    func showSession(_ request: WebRequest) -> Answer {
        guard let (session, token) = session(request, isActivity: false) else { return noSession(request) }
        return Answer(json(describe(session, token), request), user: session.user)
    }

    /// `POST /session/refresh`.
    func refreshSession(_ request: WebRequest) -> Answer {
        guard let (session, token) = session(request, isActivity: true) else { return noSession(request) }
        sessions.refresh(session)
        return Answer(json(describe(session, token), request), user: session.user)
    }

    /// `DELETE /session`.
    func deleteSession(_ request: WebRequest) async -> Answer {
        // There is none to sign in to for this: the second time it is not found.
        guard let (session, _) = session(request, isActivity: false) else {
            return Answer(error("no-session", .notFound, request))
        }
        await sessions.end(session, .logout)
        return Answer(nothing([SetCookie.sessionRemoval]), user: session.user)
    }

    /// `GET /sessions`: those of the one who asks.
    func listSessions(_ request: WebRequest) -> Answer {
        guard let (session, _) = session(request, isActivity: false) else { return noSession(request) }
        let list = own(session).map { other in
            JSONValue.object([
                ("id", .string(other.id.description)),
                ("device", .string(DeviceName.of(other.client.userAgent.utf8Span.span))),
                ("address", other.client.address.map(JSONValue.string) ?? .null),
                ("created", .integer(other.created)),
                ("last_seen", .integer(other.lastSeen)),
                ("current", .bool(other === session)),
            ])
        }
        return Answer(json(.object([("sessions", .array(list))]), request), user: session.user)
    }

    /// `DELETE /sessions/{id}`.
    func deleteSession(_ id: String, _ request: WebRequest) async -> Answer {
        guard let (session, _) = session(request, isActivity: true) else { return noSession(request) }
        // One of somebody else is as unknown as one that never was.
        guard let id = SessionID(id), let other = own(session).first(where: { $0.id == id }) else {
            return Answer(error("no-such-session", .notFound, request), user: session.user)
        }
        await sessions.end(other, other === session ? .logout : .endedElsewhere)
        return Answer(nothing(other === session ? [SetCookie.sessionRemoval] : []), user: session.user)
    }

    /// All sessions of a session's user, the last used first.
    func own(_ session: Session) -> [Session] {
        sessions.sessions(of: session.user).sorted { ($0.lastSeen, $0.created) > ($1.lastSeen, $1.created) }
    }

    private func noSession(_ request: WebRequest) -> Answer { Answer(error("no-session", .unauthorized, request)) }

    /// 204.
    private func nothing(_ cookies: [String]) -> Response {
        var headers: HTTPFields = [.cacheControl: "no-store"]
        frame.security.add(to: &headers)
        for cookie in cookies { headers.append(HTTPField(name: .setCookie, value: cookie)) }
        return Response(status: .noContent, headers: headers)
    }

    private func describe(_ session: Session, _ token: OpaqueToken) -> JSONValue {
        .object([
            ("id", .string(session.id.description)),
            ("user", .string(session.user.username.text)),
            ("realm", .string(session.user.realm)),
            ("groups", .array(session.user.groups.map(JSONValue.string))),
            ("created", .integer(session.created)),
            ("last_seen", .integer(session.lastSeen)),
            ("idle_expires_at", .integer(session.idleExpiry)),
            ("absolute_expires_at", .integer(session.absoluteExpiry)),
            ("warn_at", .integer(session.warningTime)),
            ("now", .integer(state.wall.seconds)),
            ("csrf", FormProof.text(token).map(JSONValue.string) ?? .null),
        ])
    }
}

extension Callback {
    /// As the session API tells it.
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
