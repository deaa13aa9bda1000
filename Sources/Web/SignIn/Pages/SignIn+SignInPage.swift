// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes
internal import RealmKit
internal import Sessions

/// The sign-in page, with the form for user name and password.
extension SignIn {
    /// `GET /sign-in`: the sign-in page.
    func showSignIn(_ request: WebRequest) -> RenderedResponse {
        guard let browser = try? BrowserBinding(request) else { return render(.unavailable, to: request) }
        let query = FormFields(query: request.query)
        var destination = Destination(query)
        var notice = query?.textIfValid("notice").flatMap { Notice(name: $0) } ?? .none
        if let text = query?.textIfValid("ticket") {
            let ticket = open(text, browser: browser)
            destination = ticket?.destination ?? SignInTickets.destination(text) ?? destination
            notice = ticket.flatMap { Notice(rawValue: $0.notice) } ?? notice
        }
        let target = target(destination.target, request: request)
        destination.target = target?.location
        let known = session(request, isActivity: false)?.session
        if notice == .none, let time = service.signOuts.take(browser.digest),
            service.clock.now &- time < Self.signOutNoticeTime
        {
            notice = .signedOut
        }
        // A link of anybody can have these notices.
        if known != nil, !notice.name.isEmpty { notice = .none }
        let rule = rule(for: target, request: request)
        // A hand-over that the rule allows needs no sign-in. After a refused one, the user of the session may be
        // another one.
        if notice == .none, let known, destination.challenge != nil, target?.origin != nil,
            rule?.realms.contains(known.user.realm) == true
        {
            let location = location(of: destination, for: known, request: request)
            return redirect(location, answering: request, user: known.user)
        }
        guard let ticket = seal(destination, notice: .none, browser: browser) else {
            return render(.unavailable, to: request)
        }
        let title =
            applicationName(target, rule: rule).map { Message(.signInTo, ["application": $0]) } ?? .key(.signIn)
        let message = settings.brand.message.map { Message.localized($0) }
        var page = Page(title: title, lines: [title] + [message].compactMap(\.self))
        page.kind = .formWithScript
        page.isError = notice.isError
        if let message = notice.message {
            // The same for every user, so that it does not reveal a lock.
            let lock = (notice == .rejected ? lockMinutes : nil).map {
                Message(.lockedAfterFailures, ["minutes": .verbatim("\($0)")])
            }
            page.parts.append(.notice(message, lock, isError: notice.isError))
        }
        if let known {
            let name = Message.verbatim(known.user.username)
            // A page has one notice.
            if notice == .none {
                page.parts.append(.notice(Message(.alreadySignedIn, ["user": name]), isError: false))
            }
            let location = target?.location ?? routes.account
            page.parts.append(.link(to: location, Message(.continueAs, ["user": name])))
        }
        let name = notice == .rejected ? service.rejectedNames.take(browser.digest) ?? "" : ""
        let action = routes.signIn
        page.parts.append(
            Page.Part(PageTemplate.signIn) { [notice] _ in
                [
                    "action": action, "ticket": ticket, "username": name, "hasName": !name.isEmpty,
                    "described": notice != .none, "rejected": notice == .rejected,
                ]
            }
        )
        addAnnouncement(to: &page, for: request)
        return render(page, to: request, cookies: browser.cookies, user: known?.user)
    }

    /// One minute in nanoseconds, in which a sign-out that led to a protected page is reported on the sign-in page.
    private static var signOutNoticeTime: UInt64 { 60_000_000_000 }

    /// `POST /sign-in`: begins a login with user name and password.
    func signIn(_ request: WebRequest) async throws(RejectedForm) -> RenderedResponse {
        let fields = try await form(request)
        // The ticket may be stale: the cookie, which is SameSite=Strict, and the check of the origin show that a page
        // of this server has sent the form.
        let destination = SignInTickets.destination(fields.textIfValid("ticket"))
        guard request.cookies.signIn.isToken else { return withoutCookie(destination, request: request) }
        guard let browser = try? BrowserBinding(request) else { return render(.unavailable, to: request) }
        guard let destination else {
            return redirectToSignIn(.expired, Destination(), browser: browser, request: request)
        }
        guard let text = fields.textIfValid("username"), let password = fields.secret("password"),
            let username = Self.username(typed: text)
        else {
            return redirectToSignIn(.rejected, destination, browser: browser, request: request)
        }
        let rule = rule(for: target(destination.target, request: request), request: request)
        let login = await begin(
            PendingLogin.Form(
                username: username,
                password: password,
                realms: rule?.realms ?? realms,
                whenUnavailable: rule?.whenUnavailable ?? whenUnavailable,
                destination: destination,
                rule: rule,
                browser: browser.digest,
                client: request.client
            )
        )
        return await response(to: login, browser: browser, request: request)
    }

    /// Returns the response to the form of a browser that has not sent the cookie of the page; if another tab has
    /// signed in, the browser has a session instead.
    func withoutCookie(_ destination: Destination?, request: WebRequest) -> RenderedResponse {
        let destination = destination ?? Destination()
        if let (session, _) = session(request, isActivity: true) {
            let location = location(of: destination, for: session, request: request)
            return redirect(location, answering: request, user: session.user)
        }
        let link = Self.link(routes.signIn, destination.query)
        return render(.cookieNeeded(at: request.authority, link: link), to: request)
    }

    /// Returns the response to the form of this page or of the next step, when the login has a question or has ended.
    func response(to login: PendingLogin, browser: BrowserBinding, request: WebRequest) async -> RenderedResponse {
        switch await advance(login, for: request) {
        case .question: return redirectToStep(login.form.destination, answering: request)
        case .failed(let notice, let report):
            if notice == .rejected, let next = repetition(of: login) {
                return await response(to: next, browser: browser, request: request)
            }
            // If this request contained the user name, the next sign-in page shows it again.
            if notice == .rejected, login.question == nil {
                service.rejectedNames.put(login.form.username.text, for: browser.digest)
            }
            var response = redirectToSignIn(notice, login.form.destination, browser: browser, request: request)
            response.report = report
            if let rule = login.form.rule { response.rule = LogText.rule(rule) }
            return response
        case .endNotStored(let report):
            return render(.notStored, to: request, cookies: request.sessionRemoval, report: report)
        case .session(let session, let token, let report):
            let location = location(of: login.form.destination, for: session, request: request)
            let cookies = SetCookie.session(token, replacing: request.cookies.session) + [SetCookie.signInRemoval]
            return redirect(location, answering: request, cookies: cookies, user: session.user, report: report)
        }
    }

    func redirectToSignIn(
        _ notice: Notice,
        _ destination: Destination,
        browser: BrowserBinding,
        request: WebRequest,
        cookies: [String] = []
    ) -> RenderedResponse {
        guard let ticket = seal(destination, notice: notice, browser: browser) else {
            return render(.unavailable, to: request, cookies: cookies)
        }
        return redirect("\(routes.signIn)?ticket=\(ticket)", answering: request, cookies: cookies)
    }

    static func link(_ path: String, _ query: String) -> String { query.isEmpty ? path : "\(path)?\(query)" }

    private func seal(_ destination: Destination, notice: Notice, browser: BrowserBinding) -> String? {
        let ticket = SignInTicket(destination: destination, notice: notice.rawValue, issued: service.clock.now)
        return try? service.tickets.seal(ticket, for: browser.digest)
    }

    private func open(_ text: UTF8Text, browser: BrowserBinding) -> SignInTicket? {
        try? service.tickets.open(
            text.string.utf8Span.span,
            from: browser.digest,
            now: service.clock.now,
            lifetime: settings.time.nanoseconds
        )
    }

    // MARK: The target of a sign-in

    /// Returns the rule whose realms a user may log in to before a return to a target; nil for the realms of the page.
    func rule(for target: ReturnTarget?, request: WebRequest) -> ProtectRule? {
        guard let target else { return nil }
        let host = target.origin.map(\.host) ?? request.authority
        guard case .rule(let compiled) = rules.match(host: host, path: target.path, method: "GET"),
            compiled.rule.schemes.contains(.form), compiled.rule.matches(peer: request.address)
        else { return nil }
        return compiled.rule
    }

    /// Returns the name of the application that a user signs in to; nil if the page has no name for it.
    ///
    /// Without a name in the rule, it is the host of a target at another origin. The target is allowed, so an attacker
    /// cannot choose the name.
    func applicationName(_ target: ReturnTarget?, rule: ProtectRule?) -> Message? {
        guard let target else { return nil }
        if let application = rule?.application { return .localized(application) }
        return target.origin.map { .verbatim($0.port == 443 ? $0.host : "\($0.host):\($0.port)") }
    }
}
