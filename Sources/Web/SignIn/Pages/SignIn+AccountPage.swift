// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes
internal import HTTPTypes
internal import RealmKit
internal import Sessions

/// The page with the user and the sessions of the user.
extension SignIn {
    /// `GET /account`.
    func showAccount(_ request: WebRequest) -> RenderedResponse {
        guard let (session, token) = session(request, isActivity: true) else { return notSignedIn(request) }
        let all = userSessions(of: session)
        var page = Page(title: .key(.yourAccount))
        if request.asHTML {
            page.kind = .withScript
            page.facts = Page.facts(of: session.user)
            page.parts = [list(all, current: session.signIn, csrfToken: CSRFToken.text(token) ?? "")]
            if let signOut = Page.Part.signOut(token, routes: routes, hasAccount: false) { page.parts.append(signOut) }
        } else {
            page.lines = [Message(.signedInAsUser, ["user": .verbatim(session.user.username)])]
            page.lines += all.map { .verbatim(line($0, isCurrent: $0 === session.signIn)) }
        }
        addAnnouncement(to: &page, for: request)
        return render(page, to: request, user: session.user)
    }

    private func list(_ sessions: [Session], current: Session, csrfToken: String) -> Page.Part {
        let (action, rows) = (routes.accountEnd, sessions.map { ($0, hosts(of: $0)) })
        return Page.Part(PageTemplate.sessions) { translation in
            let shown = rows.map { session, hosts in
                Self.values(of: session, at: hosts, isCurrent: session === current, translation).merging(
                    ["csrf": csrfToken, "action": action]
                ) { $1 }
            }
            return ["sessions": shown, "hasOthers": rows.count > 1, "csrf": csrfToken, "action": action]
        }
    }

    private static func values(
        of session: Session,
        at hosts: String,
        isCurrent: Bool,
        _ translation: Translation
    ) -> [String: Any] {
        let device = DeviceName.of(session.client.userAgent.utf8Span.span).text(in: translation)
        let created = UTCTime.readableText(session.created)
        let place =
            session.client.address.map { translation.text(.sessionAtFrom, ["hosts": hosts, "address": $0]) }
            ?? translation.text(.sessionAt, ["hosts": hosts])
        return [
            "device": device, "isCurrent": isCurrent, "place": place, "id": session.id.description,
            "label": translation.text(.endSessionOn, ["device": device, "time": created]),
            "created": UTCTime.text(session.created), "createdText": created,
            "lastSeen": UTCTime.text(session.lastSeen), "lastSeenText": UTCTime.readableText(session.lastSeen),
        ]
    }

    /// The host of the sign-in, and the hosts to which the session was handed over.
    private func hosts(of session: Session) -> String {
        var names: [String] = []
        for name in sessions.family(of: session).map(\.host.name) where !names.contains(where: name.hasBytes) {
            names.append(name)
        }
        return names.joined(separator: ", ")
    }

    private func line(_ session: Session, isCurrent: Bool) -> String {
        let device = DeviceName.of(session.client.userAgent.utf8Span.span).text(in: .english)
        let place = "\(hosts(of: session))  \(session.client.address ?? "-")"
        return "\(session.id)  \(device)  \(place)  \(UTCTime.text(session.lastSeen))"
            + (isCurrent ? "  this session" : "")
    }

    private func notSignedIn(_ request: WebRequest) -> RenderedResponse {
        guard request.clientKind == .navigation else {
            return error("no-session", status: .unauthorized, to: request)
        }
        let link = SignInLink(origin: nil, path: routes.signIn(returningTo: routes.account), cookie: nil)
        return render(.redirect(to: link, isSafe: request.isSafe), to: request)
    }

    /// `POST /account/end`: ends one session, or all sessions except the session of the request.
    func endSessions(_ request: WebRequest) async throws(RejectedForm) -> RenderedResponse {
        guard let (session, token) = session(request, isActivity: true) else { return notSignedIn(request) }
        let fields = try await form(request, user: session.user)
        guard CSRFToken.isValid(fields.textIfValid("csrf"), for: token) else {
            return render(.badRequest(.key(.formOfOtherSession)), to: request, user: session.user)
        }
        let id = fields.textIfValid("id").flatMap { SessionID($0.string) }
        let isAll = fields.textIfValid("others") == "all"
        let ended = endable(by: session).filter { $0 !== session.signIn && (isAll || $0.id == id) }
        guard await end(ended, cause: .endedElsewhere) else {
            return render(.notStored, to: request, user: session.user)
        }
        return redirect(routes.account, answering: request, user: session.user)
    }
}
