// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import AccessControl
internal import HTTPTypes
internal import HummingbirdCore
internal import RealmConfiguration

/// The pages at a host that shares the sign-in host.
extension SignInResponder {
    /// Returns the response to a request for a page that exists only at the sign-in host; nil for other requests.
    ///
    /// No other host accepts a password: an application at that host could read it, for example with a service worker.
    /// The list of the user's sessions is also shown only at the sign-in host.
    ///
    /// - Parameters:
    ///   - route: The route.
    ///   - request: The request.
    /// - Returns: The response; nil if the page exists at the host of the request.
    func responseAtOtherHost(_ route: Route, to request: WebRequest) -> LoggedResponse? {
        guard let hosts, let host = RequestHost(request.authority), SignInSettings.Origin(host) != hosts.origin else {
            return nil
        }
        switch route {
        case .signIn where request.isSafe:
            let destination = Destination(FormFields(query: request.query))
            guard let target = target(destination.target, request: request), target.origin == nil else {
                return LoggedResponse(redirect("\(hosts.origin)\(routes.signIn)", answering: request))
            }
            return LoggedResponse(redirect(target.location, from: host, to: request))
        case .account where request.isSafe:
            return LoggedResponse(redirect("\(hosts.origin)\(routes.account)", answering: request))
        case .signIn, .step, .account, .accountEnd:
            let link = "\(hosts.origin)\(routes.signIn)"
            return LoggedResponse(render(.onlyAtSignInHost(hosts.origin.host, link: link), to: request))
        case .session where request.method == "POST", .sessions, .oneSession:
            return LoggedResponse(error("only-at-sign-in-host", status: .forbidden, to: request))
        case .enter, .signOut, .session, .sessionRefresh, .sessionEvents, .realms, .realmCheck, .asset,
            .forwardAuth:
            return nil
        }
    }

    /// Redirects to the sign-in host.
    private func redirect(_ target: String, from host: RequestHost, to request: WebRequest) -> Response {
        switch context.links.link(from: .init(target, at: host.text, cookies: request.cookies)) {
        case .link(let link):
            redirect(link.location, answering: request, cookies: [link.cookie].compactMap(\.self))
        case .unknownHost(let host): render(.badRequest(Message(.unknownHost, ["host": .verbatim(host)])), to: request)
        case .unavailable: render(.unavailable, to: request)
        }
    }
}
