// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes
internal import HummingbirdCore
internal import RealmConfiguration
internal import RealmKit
internal import Sessions

/// The sign-in page, with the form for user name and password.
struct SignInPage: SignInComponent {
    let site: SignInSite
    var login: LoginFlow { LoginFlow(site: site) }
    var handOver: HandOver { HandOver(site: site) }

    /// `GET /sign-in`: the sign-in page.
    func showSignIn(_ request: WebRequest) -> LoggedResponse {
        guard let browser = try? BrowserBinding(request) else {
            return LoggedResponse(render(.unavailable, to: request))
        }
        let query = FormFields(query: request.query)
        var destination = Destination(query)
        var notice = query?.read("notice").flatMap { Notice(name: $0) } ?? .none
        if let text = query?.read("ticket") {
            let ticket = open(text, browser: browser)
            destination = ticket?.destination ?? Self.destination(of: text) ?? destination
            notice = ticket.flatMap { Notice(rawValue: $0.notice) } ?? notice
        }
        let target = target(destination.target, request: request)
        destination.target = target?.location
        let known = session(request, isActivity: false)
        if notice == .none, let time = state.signOuts.take(browser.digest),
            state.clock.now &- time < Self.signOutNoticeTime
        {
            notice = .signedOut
        }
        // A link of anybody can have these notices.
        if known != nil, !notice.name.isEmpty { notice = .none }
        let rule = rule(for: target, request: request)
        // After a refused sign-in, the user of the session may be another one.
        if notice == .none, let session = known?.session,
            handOver.isAccepted(session, for: destination, target: target, by: rule)
        {
            let location = handOver.location(of: destination, for: session, request: request)
            return LoggedResponse(redirect(location, answering: request), user: session.user)
        }
        guard let ticket = seal(destination, notice: .none, browser: browser) else {
            return LoggedResponse(render(.unavailable, to: request))
        }
        let title = Self.title(signingInTo: applicationName(target, rule: rule))
        let message = settings.brand.message.map { Message.localized($0) }
        var page = Page(title: title, lines: [title] + [message].compactMap(\.self))
        page.kind = .formWithScript
        page.isError = notice.isError
        if let message = notice.message {
            // The same for every user, so that it does not reveal a lock.
            let lock = (notice == .rejected ? site.lockMinutes : nil).map {
                Message(.lockedAfterFailures, ["minutes": .verbatim("\($0)")])
            }
            page.parts.append(.notice(message, lock, isError: notice.isError))
        }
        if let known {
            let name = Message.verbatim(known.session.user.username)
            // A page has one notice.
            if notice == .none {
                page.parts.append(.notice(Message(.alreadySignedIn, ["user": name]), isError: false))
            }
            let location = target?.location ?? routes.account
            page.parts.append(.link(to: location, Message(.continueAs, ["user": name])))
        }
        let name = notice == .rejected ? state.rejectedNames.take(browser.digest) ?? "" : ""
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
        return LoggedResponse(render(page, to: request, cookies: browser.cookies), user: known?.session.user)
    }

    /// One minute in nanoseconds, in which a sign-out that led to a protected page is reported on the sign-in page.
    private static var signOutNoticeTime: UInt64 { 60_000_000_000 }

    /// `POST /sign-in`: begins a login with user name and password.
    func signIn(_ request: WebRequest) async -> LoggedResponse {
        let fields: FormFields
        switch await form(request) {
        case .fields(let read): fields = read
        case .rejected(let response): return LoggedResponse(response)
        }
        guard case .token(let token) = request.cookies.signIn else {
            return withoutCookie(fields.read("ticket").flatMap(Self.destination(of:)), request: request)
        }
        guard let browser = try? BrowserBinding(known: token, request: request) else {
            return LoggedResponse(render(.unavailable, to: request))
        }
        // The ticket may be stale: the cookie, which is SameSite=Strict, and the check of the origin show that a page
        // of this server has sent the form.
        guard let destination = fields.read("ticket").flatMap(Self.destination(of:)) else {
            return LoggedResponse(redirectToSignIn(.expired, Destination(), browser: browser, request: request))
        }
        guard let text = fields.read("username"), let password = fields.secret("password"),
            let username = LoginFlow.username(typed: text)
        else {
            return LoggedResponse(redirectToSignIn(.rejected, destination, browser: browser, request: request))
        }
        let rule = rule(for: target(destination.target, request: request), request: request)
        let begun = await login.begin(
            as: username,
            password: password,
            in: rule?.realms ?? realms,
            whenUnavailable: rule?.whenUnavailable ?? site.whenUnavailable,
            destination: destination,
            rule: rule,
            browser: browser,
            request: request
        )
        return await proceed(with: begun, browser: browser, request: request)
    }

    /// Returns the response to the form of a browser that has not sent the cookie of the page; if another tab has
    /// signed in, the browser has a session instead.
    func withoutCookie(_ destination: Destination?, request: WebRequest) -> LoggedResponse {
        let destination = destination ?? Destination()
        if let (session, _) = session(request, isActivity: true) {
            let location = handOver.location(of: destination, for: session, request: request)
            return LoggedResponse(redirect(location, answering: request), user: session.user)
        }
        let link = Self.link(routes.signIn, destination.query)
        return LoggedResponse(render(.cookieNeeded(at: request.authority, link: link), to: request))
    }

    /// Returns the rule whose realms a user may log in to before a return to a target; nil for the realms of the page.
    func rule(for target: ReturnTarget?, request: WebRequest) -> ProtectRule? {
        guard let target else { return nil }
        let host = target.origin.map(\.host) ?? request.authority
        guard case .rule(let compiled) = rules.match(host: host, path: target.path, method: "GET"),
            compiled.rule.schemes.contains(.form), compiled.rule.matches(peer: request.address)
        else { return nil }
        return compiled.rule
    }

    func proceed(with pending: LoginFlow.Login, browser: BrowserBinding, request: WebRequest) async -> LoggedResponse {
        switch await login.advance(pending, for: request) {
        case .question: return LoggedResponse(redirectToStep(pending.destination, answering: request))
        case .failed(let notice, let report):
            if notice == .rejected, let next = pending.repetition() {
                return await proceed(with: next, browser: browser, request: request)
            }
            // If this request contained the user name, the next sign-in page shows it again.
            if notice == .rejected, pending.question == nil {
                state.rejectedNames.put(pending.account.text, for: browser.digest)
            }
            var response = LoggedResponse(
                redirectToSignIn(notice, pending.destination, browser: browser, request: request),
                report: report
            )
            if let rule = pending.rule { response.rule = LogText.rule(rule) }
            return response
        case .endNotStored(let report):
            return LoggedResponse(render(.notStored, to: request, cookies: request.sessionRemoval), report: report)
        case .session(let session, let token, let report):
            let location = handOver.location(of: pending.destination, for: session, request: request)
            let cookies = SetCookie.session(token, replacing: request.cookies.session) + [SetCookie.signInRemoval]
            return LoggedResponse(
                redirect(location, answering: request, cookies: cookies),
                report: report,
                user: session.user
            )
        }
    }

    func redirectToSignIn(
        _ notice: Notice,
        _ destination: Destination,
        browser: BrowserBinding,
        request: WebRequest
    ) -> Response {
        guard let ticket = seal(destination, notice: notice, browser: browser) else {
            return render(.unavailable, to: request)
        }
        return redirect("\(routes.signIn)?ticket=\(ticket)", answering: request)
    }

    func redirectToStep(_ destination: Destination, answering request: WebRequest) -> Response {
        redirect(Self.link(routes.step, destination.query), answering: request)
    }

    static func link(_ path: String, _ query: String) -> String { query.isEmpty ? path : "\(path)?\(query)" }

    /// Returns the destination of a ticket, which need not be authentic.
    static func destination(of ticket: UTF8Text) -> Destination? {
        SignInTickets.destination(ticket.string.utf8Span.span)
    }

    private func seal(_ destination: Destination, notice: Notice, browser: BrowserBinding) -> String? {
        let ticket = SignInTicket(destination: destination, notice: notice.rawValue, issued: state.clock.now)
        return try? state.tickets.seal(ticket, for: browser.digest)
    }

    private func open(_ text: UTF8Text, browser: BrowserBinding) -> SignInTicket? {
        try? state.tickets.open(
            text.string.utf8Span.span,
            from: browser.digest,
            now: state.clock.now,
            lifetime: settings.time.nanoseconds
        )
    }
}

extension SignInPage {
    /// Returns the name of the application that a user signs in to; nil if the page has no name for it.
    ///
    /// Without a name in the rule, it is the host of a target at another origin. The target is allowed, so an attacker
    /// cannot choose the name.
    func applicationName(_ target: ReturnTarget?, rule: ProtectRule?) -> Message? {
        guard let target else { return nil }
        if let application = rule?.application { return .localized(application) }
        return target.origin.map { .verbatim($0.port == 443 ? $0.host : "\($0.host):\($0.port)") }
    }

    static func title(signingInTo application: Message?) -> Message {
        application.map { Message(.signInTo, ["application": $0]) } ?? .key(.signIn)
    }
}
