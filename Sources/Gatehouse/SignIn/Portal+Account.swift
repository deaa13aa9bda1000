// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import FoundationEssentials
internal import HTTPTypes
internal import HummingbirdCore
internal import RealmKit
internal import Sessions

/// The account page: who I am, where I am signed in.
extension Portal {
    /// `GET /account`.
    func account(_ request: WebRequest) -> Answer {
        guard let (session, token) = session(request, isActivity: true) else { return notSignedIn(request) }
        let all = own(session)
        var page = Page(title: "Your account")
        if request.asHTML {
            page.kind = .live
            page.facts = Page.facts(of: session.user)
            page.parts = [list(all, session, FormProof.text(token) ?? "")]
            if let exit = Page.Part.exit(token, places, hasAccount: false) { page.parts.append(exit) }
        } else {
            page.lines = ["Signed in as \(session.user.username)"]
            page.lines += all.map { Self.line($0, isCurrent: $0 === session) }
        }
        return Answer(render(page, request), user: session.user)
    }

    private func list(_ sessions: [Session], _ current: Session, _ proof: String) -> Page.Part {
        let shown = sessions.map { session in
            [
                "device": DeviceName.of(session.client.userAgent.utf8Span.span), "isCurrent": session === current,
                "address": session.client.address ?? "", "id": session.id.description, "csrf": proof,
                "created": Self.time(session.created), "createdText": Self.readable(session.created),
                "lastSeen": Self.time(session.lastSeen), "lastSeenText": Self.readable(session.lastSeen),
                "action": places.accountEnd,
            ] as [String: Any]
        }
        return Page.Part(
            PageTemplate.sessions,
            ["sessions": shown, "hasOthers": sessions.count > 1, "csrf": proof, "action": places.accountEnd]
        )
    }

    private static func line(_ session: Session, isCurrent: Bool) -> String {
        let device = DeviceName.of(session.client.userAgent.utf8Span.span)
        return "\(session.id)  \(device)  \(session.client.address ?? "-")  \(time(session.lastSeen))"
            + (isCurrent ? "  this one" : "")
    }

    /// As machines read it: `2026-11-21T18:05:00Z`.
    private static func time(_ seconds: Int) -> String {
        Date(timeIntervalSince1970: TimeInterval(seconds)).formatted(.iso8601)
    }

    /// As people read it: `2026-11-21 18:05 UTC`.
    private static func readable(_ seconds: Int) -> String {
        let text = time(seconds)
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(5)) UTC"
    }

    private func notSignedIn(_ request: WebRequest) -> Answer {
        guard request.asker == .person else { return Answer(error("no-session", .unauthorized, request)) }
        return Answer(
            render(.redirect(to: places.signIn(returningTo: places.account), isSafe: request.isSafe), request)
        )
    }

    /// `POST /account/end`: one session, or all but this one.
    func endFromAccount(_ request: WebRequest) async -> Answer {
        guard let (session, token) = session(request, isActivity: true) else { return notSignedIn(request) }
        let fields: FormFields
        switch await form(request) {
        case .fields(let read): fields = read
        case .refused(let response): return Answer(response, user: session.user)
        }
        guard FormProof.isRight(fields.read("csrf"), token) else {
            return Answer(render(.badRequest("the form is not of this session"), request), user: session.user)
        }
        let id = fields.read("id").flatMap { SessionID($0) }
        let isAll = fields.read("others") == "all"
        for other in own(session) where other !== session && (isAll || other.id == id) {
            await sessions.end(other, .endedElsewhere)
        }
        return Answer(redirect(places.account, request), user: session.user)
    }
}
