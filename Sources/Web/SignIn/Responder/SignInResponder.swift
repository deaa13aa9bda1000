// SPDX-License-Identifier: Apache-2.0

package import AccessControl
internal import HTTPTypes
internal import HummingbirdCore
internal import RealmConfiguration
package import RealmKit

/// Answers the requests for the sign-in pages, the session API and the account page.
///
/// The type does not depend on a particular server. Each server passes it the requests for the paths of ``Routes``.
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

    /// Returns the response to a request and the data for its log line.
    ///
    /// - Parameters:
    ///   - route: The route of the request.
    ///   - request: The request.
    /// - Returns: The response.
    package func respond(at route: Route, to request: WebRequest) async -> LoggedResponse {
        let allowed = route.methods
        guard allowed.contains(request.method) else {
            return LoggedResponse(render(.methodNotAllowed(allowed), to: request))
        }
        if !request.isSafe, request.isCrossOrigin { return LoggedResponse(render(.crossOrigin, to: request)) }
        if request.host == nil, let rejection = rejectionWithoutHost(route, request: request) { return rejection }
        if let response = await responseAtOtherHost(route, to: request) { return response }
        switch route {
        // A script or a service worker of the application must not read or send the page, and a frame of another host must
        // not start a hand-over without the user. A service worker that passes on the
        // request of the browser cannot be distinguished from the browser.
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

    /// Returns the response to a sign-in whose host is invalid; nil for other requests.
    ///
    /// A session belongs to a host, so a sign-in needs a valid host.
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
