// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import AccessControl
internal import Bytes
internal import HTTPTypes
internal import HummingbirdCore
internal import Mustache
internal import OpenSSLKit
internal import RealmConfiguration
internal import RealmKit
internal import Sessions

/// The end of a session by its user.
extension SignInPage {
    /// `GET /sign-out`: asks whether to sign out.
    ///
    /// The request changes nothing, because any site can send a browser here. Without a session it leads to the target.
    func showSignOut(_ request: WebRequest) -> LoggedResponse {
        let target = target(FormFields(query: request.query)?.read("return")?.string, request: request)
        guard let (session, token) = session(request, isActivity: false) else {
            if let target { return LoggedResponse(redirect(target.location, answering: request)) }
            return LoggedResponse(render(.signedOut(signInAt: routes.signIn), to: request))
        }
        guard let csrfToken = CSRFToken.text(token) else { return LoggedResponse(render(.unavailable, to: request)) }
        var page = Page(title: "Sign out?", lines: ["You are signed in as \(session.user.username)."])
        page.kind = .form
        page.formTarget = target?.origin?.description
        let values: [String: Any] = [
            "action": routes.signOut, "csrf": csrfToken, "target": target.map { [$0.location] } ?? [],
        ]
        page.parts = [Page.Part(PageTemplate.askSignOut, values)]
        return LoggedResponse(render(page, to: request), user: session.user)
    }

    /// `POST /sign-out`: ends the session.
    func signOut(_ request: WebRequest) async -> LoggedResponse {
        let form = await form(request)
        guard case .token(let token) = request.cookies.session,
            let session = session(request, isActivity: false)?.session ?? unstoredEnd(request)
        else {
            guard case .fields(let fields) = form, Self.returns(fields) else {
                return LoggedResponse(signedOut(request))
            }
            return LoggedResponse(signedOut(request, thenReturnTo: fields))
        }
        guard case .fields(let fields) = form, CSRFToken.isValid(fields.read("csrf"), for: token) else {
            return LoggedResponse(
                render(.badRequest("the form does not belong to this session"), to: request),
                user: session.user
            )
        }
        guard await end(session.signIn, cause: .logout) else {
            return LoggedResponse(
                render(.notStored, to: request, cookies: [SetCookie.sessionRemoval]),
                user: session.user
            )
        }
        if Self.returns(fields) {
            return LoggedResponse(signedOut(request, thenReturnTo: fields), user: session.user)
        }
        // A user without access signs in as another user, and then returns.
        let target = self.target(fields.read("return")?.string, request: request)
        return LoggedResponse(signedOut(request, thenSignInFor: target), user: session.user)
    }

    /// Returns whether the form of `GET /sign-out` was sent.
    private static func returns(_ fields: FormFields) -> Bool { fields.read("then") == "return" }

    /// Returns a redirect to the page that leads to the target, or says that the user has signed out.
    private func signedOut(_ request: WebRequest, thenReturnTo fields: FormFields) -> Response {
        let target = target(fields.read("return")?.string, request: request)
        let query = target.map { "return=\(PercentEncoding.encode($0.location))" } ?? ""
        let location = Self.link(routes.signOut, query)
        return removingData(redirect(location, answering: request, cookies: [SetCookie.sessionRemoval]))
    }

    /// Returns a redirect to the sign-in page.
    ///
    /// The response removes the session cookie and the stored data from the browser.
    private func signedOut(_ request: WebRequest, thenSignInFor target: ReturnTarget? = nil) -> Response {
        var response: Response
        do throws(OpenSSLError) {
            if let hosts, !hosts.isSignInHost(request.authority) {
                let here = RequestHost(request.authority).map { SignInSettings.Origin($0).description } ?? ""
                let url = target.map { $0.origin == nil ? here + $0.location : $0.location }
                let query = url.map { "&\(Destination(target: $0).query)" } ?? ""
                let page = "\(hosts.origin)\(routes.signIn)?notice=signed-out\(query)"
                response = redirect(page, answering: request, cookies: [SetCookie.sessionRemoval])
            } else {
                let browser = try BrowserBinding(request)
                response = redirectToSignIn(
                    .signedOut,
                    Destination(target: target?.location),
                    browser: browser,
                    request: request
                )
                for cookie in browser.cookies + [SetCookie.sessionRemoval] {
                    response.headers.append(.init(name: .setCookie, value: cookie))
                }
            }
        } catch {
            response = redirect(routes.signIn, answering: request, cookies: [SetCookie.sessionRemoval])
        }
        return removingData(response)
    }

    private func removingData(_ response: Response) -> Response {
        var response = response
        // "cookies" is omitted, because it would also delete the cookies of other sites in the same domain.
        response.headers[.clearSiteData] = "\"cache\", \"storage\""
        return response
    }
}

extension Page {
    /// The page after a sign-out without a target.
    ///
    /// - Parameter signIn: The path of the sign-in page.
    /// - Returns: The page.
    fileprivate static func signedOut(signInAt signIn: String) -> Page {
        var page = Page(title: "Signed out", lines: ["You are signed out."])
        page.parts = [Part(PageTemplate.link, ["target": signIn, "text": "Sign in"])]
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
        {{/target}}<button type="submit" autofocus>Sign out</button>
        </form>
        {{#target}}<p><a href="{{.}}">Stay signed in</a></p>
        {{/target}}
        """
    )
}
