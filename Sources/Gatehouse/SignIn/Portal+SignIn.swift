// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPServer
internal import HummingbirdCore
internal import OpenSSLKit
internal import RealmConfiguration
internal import RealmKit
internal import Sessions

/// The page with name and password.
extension Portal {
    /// `GET /sign-in`.
    func showSignIn(_ request: WebRequest) -> Answer {
        let browser: Browser
        do throws(OpenSSLError) {
            browser = try Browser(request)
        } catch {
            return Answer(render(.unavailable, request))
        }
        let query = FormFields(query: request.query)
        var target = target(query?.read("return"), request)?.location
        var notice = Notice.none
        if let text = query?.read("ticket"), let ticket = open(text, browser) {
            target = ticket.target
            notice = Notice(rawValue: ticket.notice) ?? .none
        }
        guard let ticket = seal(target, .none, browser) else { return Answer(render(.unavailable, request)) }
        var page = Page(title: "Sign in", lines: ["Sign in"])
        page.kind = .form
        if let text = notice.text {
            page.parts.append(Page.Part(PageTemplate.notice, ["text": text, "isError": notice.isError]))
        }
        let known = session(request, isActivity: false)
        if let known {
            let text = "You are signed in as \(known.session.user.username). Signing in again ends that session."
            page.parts.append(Page.Part(PageTemplate.notice, ["text": text, "isError": false]))
        }
        let name = notice == .refused ? state.names.take(browser.digest) ?? "" : ""
        page.parts.append(
            Page.Part(
                PageTemplate.signIn,
                [
                    "action": places.signIn, "ticket": ticket, "username": name, "hasName": !name.isEmpty,
                    "described": notice.text != nil,
                ]
            )
        )
        return Answer(render(page, request, cookies: browser.cookies), user: known?.session.user)
    }

    /// `POST /sign-in`.
    func signIn(_ request: WebRequest) async -> Answer {
        guard request.isForm else { return Answer(render(.unsupported, request)) }
        guard case .token(let token) = request.cookies.signIn else {
            return Answer(render(.badRequest("the browser has not sent back the cookie of the sign-in page"), request))
        }
        let fields: FormFields
        switch await form(request) {
        case .fields(let read): fields = read
        case .refused(let response): return Answer(response)
        }
        let browser: Browser
        do throws(OpenSSLError) {
            browser = try Browser(known: token)
        } catch {
            return Answer(render(.unavailable, request))
        }
        guard let ticket = fields.read("ticket").flatMap({ open($0, browser) }) else {
            return Answer(back(.stale, nil, browser, request))
        }
        // Whatever comes of it: who begins to sign in is no longer who was signed in before (CVE-2026-34454).
        if let before = session(request, isActivity: false) { await sessions.end(before.session, .replaced) }
        guard let text = fields.read("username"), let password = fields.secret("password"),
            let username = Self.username(text)
        else { return Answer(back(.refused, ticket.target, browser, request)) }
        let begun = begin(username, password, realms: realms(for: ticket.target, request), request)
        return await go(on: begun, target: ticket.target, browser, request, name: text)
    }

    static func username(_ text: String) -> Username? {
        do throws(BadUsername) {
            return try Username(text)
        } catch {
            return nil
        }
    }

    /// A login that has begun, and when.
    struct Begun {
        let dialogue: LoginDialogue<SignInAttempt>
        let username: Username
        let began: SignInState.Beginning
    }

    /// Begins a login.
    func begin(_ username: Username, _ password: Secret, realms: [String], _ request: WebRequest) -> Begun {
        let authenticator = authenticator
        let address = request.address
        let began = SignInState.Beginning(mark: sessions.mark(), generation: state.generation)
        let dialogue = LoginDialogue(name: username.text, password: password) { conversation in
            await SignInAttempt.make(authenticator, realms, username, address: address, asking: conversation)
        }
        return Begun(dialogue: dialogue, username: username, began: began)
    }

    /// The realms that are asked for a place.
    func realms(for target: String?, _ request: WebRequest) -> [String] {
        guard let place = self.target(target, request) else { return realms }
        let host = place.origin.map(\.host) ?? request.authority
        guard case .rule(let guarded) = rules.match(host: host, path: place.path, method: "GET"),
            guarded.rule.schemes.contains(.form), guarded.rule.covers(peer: request.address)
        else { return realms }
        return guarded.rule.realms
    }

    /// Waits until the login asks something or has ended, and shows what comes of it.
    ///
    /// - Parameters:
    ///   - begun: The login.
    ///   - target: Where somebody wanted to go.
    ///   - browser: Whose login it is.
    ///   - request: The request that has brought it forward.
    ///   - name: The name that was typed, if that was just now.
    /// - Returns: A redirect.
    func go(
        on begun: Begun,
        target: String?,
        _ browser: Browser,
        _ request: WebRequest,
        name: String? = nil
    ) async -> Answer {
        let attempt: SignInAttempt
        switch await begun.dialogue.next() {
        case .questions(let questions, let number):
            wait(begun, questions, number, target, browser, request, isNew: name != nil)
            return Answer(redirect(places.step, request))
        case .finished(let finished): attempt = finished
        }
        switch attempt.outcome {
        case .refused(let report):
            state.noteRefusal(report)
            if let name { state.names.put(name, browser.digest) }
            return Answer(back(.refused, target, browser, request), report: report)
        case .unavailable(let report):
            state.noteRefusal(report)
            return Answer(back(.unavailable, target, browser, request), report: report)
        case .accepted(let identity, let report):
            switch await establish(identity, begun.began, browser, request) {
            case .session(let session, let token):
                let place = self.target(target, request)?.location ?? places.account
                let cookies = [SetCookie.session(token), SetCookie.signInRemoval]
                return Answer(redirect(place, request, cookies: cookies), report: report, user: session.user)
            case .notice(let notice):
                return Answer(back(notice, target, browser, request), report: report)
            }
        }
    }

    /// Keeps a login until its person has answered.
    func wait(
        _ begun: Begun,
        _ questions: [Callback],
        _ number: Int,
        _ target: String?,
        _ browser: Browser,
        _ request: WebRequest,
        isNew: Bool
    ) {
        let pending = SignInState.Pending(
            target: target,
            messages: begun.dialogue.messages,
            questions: questions,
            number: number,
            began: begun.began
        )
        let waiting = WaitingLogins<SignInAttempt, SignInState.Pending>.Waiting(
            dialogue: begun.dialogue,
            context: pending,
            source: Source(request.address ?? ""),
            account: begun.username,
            browser: browser.digest
        )
        // One that has asked before gives way to one that its browser has begun meanwhile.
        if isNew { state.waiting.put(waiting) } else { state.waiting.putBack(waiting) }
    }

    /// A session, or what to say instead.
    enum Established {
        case session(Session, OpaqueToken)
        case notice(Notice)
    }

    /// Begins a session for somebody whom a realm has accepted.
    ///
    /// - Parameters:
    ///   - identity: The proof.
    ///   - began: When the login began.
    ///   - browser: Whose login it was; the session it had begun before ends.
    ///   - request: The request that has brought the login to its end.
    /// - Returns: The session, or what to say instead.
    func establish(
        _ identity: AuthenticatedIdentity,
        _ began: SignInState.Beginning,
        _ browser: Browser,
        _ request: WebRequest
    ) async -> Established {
        guard let realm = authenticator.realms[identity.realm] else { return .notice(.unavailable) }
        let authority = SessionAuthority(authenticator: authenticator)
        let stamp: UserStamp
        switch await authority.state(of: identity.username, in: realm) {
        case .present(let present): stamp = present
        case .gone: return .notice(.changed)
        case .unknown: return .notice(.unavailable)
        }
        if let before = session(request, isActivity: false) { await sessions.end(before.session, .replaced) }
        do throws(SessionFault) {
            let (session, token) = try await sessions.begin(
                identity,
                request.client,
                stamp: stamp,
                since: began.mark,
                replacing: state.recent.of(browser.digest)
            )
            guard state.generation == began.generation else {
                // The configuration was read again in the meantime, and the realm may be another.
                await sessions.end(session, .userChanged)
                return .notice(.changed)
            }
            state.recent.put(session, browser.digest)
            state.noteBeginning(session)
            return .session(session, token)
        } catch {
            switch error.code {
            case .changedMeanwhile, .ended: return .notice(.changed)
            case .full, .tooManyStreams: return .notice(.full)
            case .busy, .closing, .unavailable: return .notice(.unavailable)
            }
        }
    }

    /// Back to the sign-in page, which says why.
    func back(_ notice: Notice, _ target: String?, _ browser: Browser, _ request: WebRequest) -> Response {
        guard let ticket = seal(target, notice, browser) else { return render(.unavailable, request) }
        return redirect("\(places.signIn)?ticket=\(ticket)", request)
    }

    private func seal(_ target: String?, _ notice: Notice, _ browser: Browser) -> String? {
        let ticket = SignInTicket(target: target, notice: notice.rawValue, issued: state.clock.now)
        do throws(OpenSSLError) {
            return try state.tickets.seal(ticket, for: browser.digest)
        } catch {
            return nil
        }
    }

    private func open(_ text: String, _ browser: Browser) -> SignInTicket? {
        do throws(OpenSSLError) {
            return try state.tickets.open(
                text.utf8Span.span,
                from: browser.digest,
                now: state.clock.now,
                lifetime: settings.time.nanoseconds
            )
        } catch {
            return nil
        }
    }
}
