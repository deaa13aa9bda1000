// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import AccessControl
internal import Bytes
internal import HummingbirdCore
internal import OpenSSLKit
internal import RealmConfiguration
internal import RealmKit
internal import Sessions

/// The sign-in page, with the form for user name and password.
struct SignInPage: SignInComponent {
    let site: SignInSite
    var login: LoginFlow { LoginFlow(site: site) }

    /// `GET /sign-in`: the sign-in page.
    func showSignIn(_ request: WebRequest) -> LoggedResponse {
        let browser: BrowserBinding
        do throws(OpenSSLError) {
            browser = try BrowserBinding(request)
        } catch {
            return LoggedResponse(render(.unavailable, to: request))
        }
        let query = FormFields(query: request.query)
        var target = target(query?.read("return")?.string, request: request)?.location
        var notice = Notice.none
        if let text = query?.read("ticket"), let ticket = open(text, browser: browser) {
            target = ticket.target
            notice = Notice(rawValue: ticket.notice) ?? .none
        }
        guard let ticket = seal(target, notice: .none, browser: browser) else {
            return LoggedResponse(render(.unavailable, to: request))
        }
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
        let name = notice == .rejected ? state.rejectedNames.take(browser.digest) ?? "" : ""
        page.parts.append(
            Page.Part(
                PageTemplate.signIn,
                [
                    "action": routes.signIn, "ticket": ticket, "username": name, "hasName": !name.isEmpty,
                    "described": notice.text != nil,
                ]
            )
        )
        return LoggedResponse(render(page, to: request, cookies: browser.cookies), user: known?.session.user)
    }

    /// `POST /sign-in`: begins a login with user name and password.
    func signIn(_ request: WebRequest) async -> LoggedResponse {
        guard request.isForm else { return LoggedResponse(render(.unsupported, to: request)) }
        guard case .token(let token) = request.cookies.signIn else {
            return LoggedResponse(
                render(.badRequest("the cookie of the sign-in page is missing"), to: request)
            )
        }
        let fields: FormFields
        switch await form(request) {
        case .fields(let read): fields = read
        case .rejected(let response): return LoggedResponse(response)
        }
        let browser: BrowserBinding
        do throws(OpenSSLError) {
            browser = try BrowserBinding(known: token, request: request)
        } catch {
            return LoggedResponse(render(.unavailable, to: request))
        }
        guard let ticket = fields.read("ticket").flatMap({ open($0, browser: browser) }) else {
            return LoggedResponse(redirectToSignIn(.expired, target: nil, browser: browser, request: request))
        }
        // The earlier session may belong to another user, so it ends even if this login fails (CVE-2026-34454).
        if let before = session(request, isActivity: false), await !end(before.session, cause: .replaced) {
            return LoggedResponse(render(.notStored, to: request, cookies: [SetCookie.sessionRemoval]))
        }
        guard let text = fields.read("username"), let password = fields.secret("password"),
            let username = LoginFlow.username(text)
        else {
            return LoggedResponse(
                redirectToSignIn(.rejected, target: ticket.target, browser: browser, request: request)
            )
        }
        let rule = rule(for: ticket.target, request: request)
        let begun = await login.begin(
            as: username,
            password: password,
            in: rule?.realms ?? realms,
            whenUnavailable: rule?.whenUnavailable ?? site.whenUnavailable,
            target: ticket.target,
            browser: browser,
            request: request
        )
        return await proceed(with: begun, browser: browser, request: request)
    }

    /// Returns the rule whose realms a user may log in to before a return to a target; nil for the realms of the page.
    func rule(for target: String?, request: WebRequest) -> ProtectRule? {
        guard let returnTarget = self.target(target, request: request) else { return nil }
        let host = returnTarget.origin.map(\.host) ?? request.authority
        guard case .rule(let compiled) = rules.match(host: host, path: returnTarget.path, method: "GET"),
            compiled.rule.schemes.contains(.form), compiled.rule.matches(peer: request.address)
        else { return nil }
        return compiled.rule
    }

    /// Waits until a login has a question or has ended, and returns a redirect to the next page.
    func proceed(with pending: LoginFlow.Login, browser: BrowserBinding, request: WebRequest) async -> LoggedResponse {
        switch await login.advance(pending, for: request) {
        case .question: return LoggedResponse(redirect(routes.step, answering: request))
        case .failed(let notice, let report):
            // If this request contained the user name, the next sign-in page shows it again.
            if notice == .rejected, pending.question == nil {
                state.rejectedNames.put(pending.account.text, for: browser.digest)
            }
            return LoggedResponse(
                redirectToSignIn(notice, target: pending.target, browser: browser, request: request),
                report: report
            )
        case .session(let session, let token, let report):
            let returnTarget = target(pending.target, request: request)?.location ?? routes.account
            let cookies = [SetCookie.session(token), SetCookie.signInRemoval]
            return LoggedResponse(
                redirect(returnTarget, answering: request, cookies: cookies),
                report: report,
                user: session.user
            )
        }
    }

    /// Returns a redirect to the sign-in page with a notice.
    func redirectToSignIn(_ notice: Notice, target: String?, browser: BrowserBinding, request: WebRequest) -> Response {
        guard let ticket = seal(target, notice: notice, browser: browser) else {
            return render(.unavailable, to: request)
        }
        return redirect("\(routes.signIn)?ticket=\(ticket)", answering: request)
    }

    private func seal(_ target: String?, notice: Notice, browser: BrowserBinding) -> String? {
        let ticket = SignInTicket(target: target, notice: notice.rawValue, issued: state.clock.now)
        do throws(OpenSSLError) {
            return try state.tickets.seal(ticket, for: browser.digest)
        } catch {
            return nil
        }
    }

    private func open(_ text: UTF8Text, browser: BrowserBinding) -> SignInTicket? {
        do throws(OpenSSLError) {
            return try state.tickets.open(
                text.string.utf8Span.span,
                from: browser.digest,
                now: state.clock.now,
                lifetime: settings.time.nanoseconds
            )
        } catch {
            return nil
        }
    }
}
