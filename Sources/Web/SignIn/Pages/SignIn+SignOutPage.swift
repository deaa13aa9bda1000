// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes
internal import HTTPTypes
internal import Mustache
internal import RealmKit
internal import Sessions

/// The end of a session by its user.
extension SignIn {
    /// `GET /sign-out`: asks whether to sign out.
    ///
    /// The request changes nothing, because any site can send a browser here. Without a session it leads to the target;
    /// a host that is not the sign-in host leads to the page of that host, where the browser may have a session.
    func showSignOut(_ request: WebRequest) -> RenderedResponse {
        let query = FormFields(query: request.query)
        let target = target(query?.textIfValid("return")?.string, request: request)
        guard let (session, token) = presentedSessions(request).first else {
            if let page = signOutAtSignInHost(target, request: request) { return redirect(page, answering: request) }
            guard let target else { return render(.signedOut(signInAt: routes.signIn), to: request) }
            let isSignedOut = query?.textIfValid("notice") == UTF8Text(Notice.signedOut.name)
            return redirect(target.location, answering: request, cookies: isSignedOut ? noteSignOut(request) : [])
        }
        guard let csrfToken = CSRFToken.text(token) else { return render(.unavailable, to: request) }
        let line = Message(.youAreSignedInAs, ["user": .verbatim(session.user.username)])
        var page = Page(title: .key(.signOutQuestion), lines: [line])
        page.kind = .form
        let action = routes.signOut
        page.parts = [
            Page.Part(PageTemplate.askSignOut) { _ in
                ["action": action, "csrf": csrfToken, "target": target.map { [$0.location] } ?? []]
            }
        ]
        return render(page, to: request, user: session.user)
    }

    /// `POST /sign-out`: ends the session, or all sessions of a browser with several session cookies.
    func signOut(_ request: WebRequest) async -> RenderedResponse {
        // A sign-out without a session needs no form.
        let fields = try? await form(request)
        let target = target(fields?.textIfValid("return")?.string, request: request)
        let presented = presentedSessions(request, includesUnstoredEnds: true)
        if let user = presented.first?.session.user {
            guard let fields,
                presented.contains(where: { CSRFToken.isValid(fields.textIfValid("csrf"), for: $0.token) })
            else {
                return render(.badRequest(.key(.formOfOtherSession)), to: request, user: user)
            }
            guard await end(presented.map(\.session.signIn), cause: .logout) else {
                return render(.notStored, to: request, cookies: request.sessionRemoval, user: user)
            }
        } else if let page = signOutAtSignInHost(target, request: request) {
            return removingData(redirect(page, answering: request, cookies: request.sessionRemoval))
        }
        // The form of `GET /sign-out` leads to the target. With the form of another page, a user without access signs in
        // as another user, and then returns.
        var response =
            fields?.textIfValid("then") == "return"
            ? signedOut(request, thenReturnTo: target)
            : signedOut(request, thenSignInFor: presented.isEmpty ? nil : target)
        response.user = presented.first?.session.user
        return removingData(response)
    }

    /// Stores for the sign-in page that this browser has signed out, and returns the cookie that identifies the
    /// browser.
    private func noteSignOut(_ request: WebRequest) -> [String] {
        guard let browser = try? BrowserBinding(request) else { return [] }
        service.signOuts.put(service.clock.now, for: browser.digest)
        return browser.cookies
    }

    /// Returns the sign-out page of the sign-in host; nil if the request is for that host, or there is none.
    private func signOutAtSignInHost(_ target: ReturnTarget?, request: WebRequest) -> String? {
        guard let hosts, !hosts.isSignInHost(request.authority) else { return nil }
        let query = url(of: target, request: request).map { Destination(target: $0).query } ?? ""
        return hosts.origin.description + Self.link(routes.signOut, query)
    }

    /// Returns a target as a URL that is of use at another host.
    private func url(of target: ReturnTarget?, request: WebRequest) -> String? {
        let here = RequestHost(request.authority).map { SignInSettings.Origin($0).description } ?? ""
        return target.map { $0.origin == nil ? here + $0.location : $0.location }
    }

    /// Returns a redirect to the page that leads to the target, or says that the user has signed out.
    private func signedOut(_ request: WebRequest, thenReturnTo target: ReturnTarget?) -> RenderedResponse {
        let query = Destination(target: target?.location).query
        var location = signOutAtSignInHost(target, request: request) ?? Self.link(routes.signOut, query)
        // The target may lead to the sign-in page.
        if target != nil { location += "&notice=\(Notice.signedOut.name)" }
        return redirect(location, answering: request, cookies: request.sessionRemoval)
    }

    /// Returns a redirect to the sign-in page.
    private func signedOut(_ request: WebRequest, thenSignInFor target: ReturnTarget?) -> RenderedResponse {
        let removal = request.sessionRemoval
        if let hosts, !hosts.isSignInHost(request.authority) {
            let query = url(of: target, request: request).map { "&\(Destination(target: $0).query)" } ?? ""
            let page = "\(hosts.origin)\(routes.signIn)?notice=\(Notice.signedOut.name)\(query)"
            return redirect(page, answering: request, cookies: removal)
        }
        guard let browser = try? BrowserBinding(request) else {
            return redirect(routes.signIn, answering: request, cookies: removal)
        }
        let destination = Destination(target: target?.location)
        let cookies = browser.cookies + removal
        return redirectToSignIn(.signedOut, destination, browser: browser, request: request, cookies: cookies)
    }

    /// Removes the stored data from the browser.
    private func removingData(_ response: RenderedResponse) -> RenderedResponse {
        var response = response
        // "cookies" is omitted, because it would also delete the cookies of other sites in the same domain.
        response.head.headerFields[.clearSiteData] = "\"cache\", \"storage\""
        return response
    }
}

extension Page {
    /// The page after a sign-out without a target.
    fileprivate static func signedOut(signInAt signIn: String) -> Page {
        var page = Page(title: .key(.signedOut), lines: [.key(.youAreSignedOut)])
        page.parts = [.link(to: signIn, .key(.signIn))]
        return page
    }
}

extension PageTemplate {
    /// The button that signs out, and then leads to a target.
    fileprivate static let askSignOut = compiled(
        """
        <form method="post" action="{{action}}">
        <input type="hidden" name="csrf" value="{{csrf}}">
        <input type="hidden" name="then" value="return">
        {{#target}}<input type="hidden" name="return" value="{{.}}">
        {{/target}}<button type="submit" autofocus>{{text.sign-out}}</button>
        </form>
        {{#target}}<p><a href="{{.}}">{{text.keep-session}}</a></p>
        {{/target}}
        """
    )
}
