// SPDX-License-Identifier: Apache-2.0

package import AccessControl
internal import Bytes
internal import HTTPTypes
internal import HummingbirdCore
internal import RealmConfiguration
package import RealmKit

/// Answers the requests for the sign-in pages, the session API and the account page, which a server passes it by
/// ``Routes``.
package struct SignInResponder: SignInComponent {
    let site: SignInSite
    private var page: SignInPage { SignInPage(site: site) }
    private var api: SessionAPI { SessionAPI(site: site) }
    private var account: AccountPage { AccountPage(site: site) }

    /// The names of the realms in which users log in if no rule names other realms.
    package var signInRealms: [String] { site.realms }

    /// Whether the next of these realms is used if a realm is unavailable.
    package var signInWhenUnavailable: WhenUnavailable { site.whenUnavailable }

    init(site: SignInSite) { self.site = site }

    package func respond(at route: Route, to request: WebRequest) async -> LoggedResponse {
        let allowed = route.methods
        guard allowed.contains(request.method) else {
            return LoggedResponse(render(.methodNotAllowed(allowed), to: request))
        }
        if !request.isSafe, request.isCrossOrigin { return LoggedResponse(render(.crossOrigin, to: request)) }
        if request.host == nil, let rejection = rejectionWithoutHost(route, request: request) { return rejection }
        if let response = await responseAtOtherHost(route, to: request) { return response }
        switch route {
        // A script or a service worker of the application must not read or send the page, and a frame of another host
        // must not start a hand-over without the user. A service worker that passes on the request of the browser
        // cannot be distinguished from the browser.
        case .signIn where !request.isDocument, .step where !request.isDocument:
            return LoggedResponse(render(.crossOrigin, to: request))
        case .signIn:
            return request.isSafe ? page.showSignIn(request) : await page.signIn(request)
        case .step: return request.isSafe ? page.showStep(request) : await page.step(request)
        case .enter: return await HandOver(site: site).enter(request)
        case .signOut: return request.isSafe ? page.showSignOut(request) : await page.signOut(request)
        case .account: return account.show(request)
        case .accountEnd: return await account.endSessions(request)
        case .session:
            switch request.method {
            case "POST": return await api.createSession(request)
            case "DELETE": return await api.deleteSession(request)
            default: return api.showSession(request)
            }
        case .sessionRefresh: return api.refreshSession(request)
        case .sessionEvents: return api.events(request)
        case .sessions: return api.listSessions(request)
        case .oneSession(let id): return await api.deleteSession(id, request: request)
        case .realms, .realmCheck, .asset, .forwardAuth:
            return LoggedResponse(render(.notFound, to: request))
        }
    }

    /// Returns the response to a sign-in whose host is invalid, because a session belongs to a host; nil for other
    /// requests.
    private func rejectionWithoutHost(_ route: Route, request: WebRequest) -> LoggedResponse? {
        switch route {
        case .signIn, .step:
            return request.isSafe ? nil : LoggedResponse(render(.badRequest(.key(.invalidHost)), to: request))
        case .session:
            guard request.method == "POST" else { return nil }
            return LoggedResponse(malformed(Translation.english[.invalidHost], to: request))
        case .enter, .signOut, .account, .accountEnd, .sessionRefresh, .sessionEvents, .sessions, .oneSession, .realms,
            .realmCheck, .asset, .forwardAuth:
            return nil
        }
    }
}

/// The pages at a host that shares the sign-in host.
extension SignInResponder {
    /// Returns the response to a request for a page that exists only at the sign-in host; nil for other requests.
    ///
    /// No other host accepts a password: an application at that host could read it, for example with a service worker.
    /// The list of the user's sessions is also shown only at the sign-in host.
    func responseAtOtherHost(_ route: Route, to request: WebRequest) async -> LoggedResponse? {
        guard let hosts, let host = RequestHost(request.authority), SignInSettings.Origin(host) != hosts.origin else {
            return nil
        }
        switch route {
        case .signIn where request.isSafe, .step:
            let destination = Destination(FormFields(query: request.query))
            return LoggedResponse(redirect(destination, of: host, hasForm: !request.isSafe, to: request))
        case .signIn:
            // The page was loaded before this host had a sign-in host. The user name and the password are not used.
            switch await form(request) {
            case .rejected(let response): return LoggedResponse(response)
            case .fields(let fields):
                let destination = fields.read("ticket").flatMap(SignInPage.destination(of:)) ?? Destination()
                return LoggedResponse(redirect(destination, of: host, hasForm: true, to: request))
            }
        case .account where request.isSafe:
            return LoggedResponse(redirect("\(hosts.origin)\(routes.account)", answering: request))
        case .account, .accountEnd:
            let link = "\(hosts.origin)\(routes.signIn)"
            return LoggedResponse(render(.onlyAtSignInHost(hosts.origin.host, link: link), to: request))
        case .session where request.method == "POST", .sessions, .oneSession:
            return LoggedResponse(error("only-at-sign-in-host", status: .forbidden, to: request))
        case .enter, .signOut, .session, .sessionRefresh, .sessionEvents, .realms, .realmCheck, .asset,
            .forwardAuth:
            return nil
        }
    }

    /// Redirects to the sign-in page of the sign-in host, which says that the page has expired if the browser has sent
    /// the form of an old page.
    private func redirect(
        _ destination: Destination,
        of host: RequestHost,
        hasForm: Bool,
        to request: WebRequest
    ) -> Response {
        let page = "\(hosts?.origin.description ?? "")\(routes.signIn)"
        let notice = hasForm ? "notice=\(Notice.expired.name)" : ""
        guard let target = target(destination.target, request: request) else {
            return redirect(SignInPage.link(page, notice), answering: request)
        }
        guard target.origin == nil else {
            // This host was the sign-in host of another host, which has bound the challenge to its browser.
            let destination = Destination(target: target.location, challenge: destination.challenge)
            let query = [destination.query, notice].filter { !$0.isEmpty }.joined(separator: "&")
            return redirect(SignInPage.link(page, query), answering: request)
        }
        switch context.links.link(from: .init(target.location, at: host.text, cookies: request.cookies)) {
        case .link(let link):
            let location = notice.isEmpty ? link.location : "\(link.location)&\(notice)"
            return redirect(location, answering: request, cookies: [link.cookie].compactMap(\.self))
        // No rule with a form names this host, so its pages need no sign-in.
        case .unknownHost where hasForm: return redirect(SignInPage.link(page, notice), answering: request)
        case .unknownHost(let host):
            return render(.badRequest(Message(.unknownHost, ["host": .verbatim(host)])), to: request)
        case .unavailable: return render(.unavailable, to: request)
        }
    }
}
