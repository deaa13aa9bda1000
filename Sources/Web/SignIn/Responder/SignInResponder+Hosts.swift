// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes
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

    /// Redirects to the sign-in page of the sign-in host.
    ///
    /// - Parameters:
    ///   - destination: The destination of the page at this host.
    ///   - host: This host.
    ///   - hasForm: True if the browser has sent the form of an old page. The new page then says so.
    ///   - request: The request.
    /// - Returns: The response.
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
