// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes
internal import HTTPTypes
internal import OpenSSLKit
internal import RealmKit
internal import Sessions

/// The hand-over of a session from the sign-in host to another host.
///
/// 1. A protected host redirects the browser to the sign-in host, with the challenge of a verifier that only a cookie
///    of the protected host contains (``SignInLinks``).
/// 2. The sign-in host has a session, or signs the user in. It redirects the browser back, with a code
///    (``location(of:for:request:)``).
/// 3. The protected host redeems the code for a child session of its own (``enter(_:)``).
extension SignIn {
    // MARK: At the sign-in host

    /// Returns the location to which a signed-in browser is redirected: with a code, if the destination is at a host
    /// that expects a hand-over; otherwise the target itself, or the account page if the target is not allowed.
    func location(of destination: Destination, for session: Session, request: WebRequest) -> String {
        guard let target = target(destination.target, request: request) else { return routes.account }
        guard let challenge = destination.challenge, let origin = target.origin, hosts?.contains(origin) == true,
            let code = try? service.handOverCodes.issue(for: session.signIn, to: origin, challenge: challenge)
        else {
            // Without a code, the host of the target begins the hand-over again.
            return target.location
        }
        let path = target.location.dropFirst(origin.description.utf8.count)
        let rest = Destination(target: path.isEmpty ? "/" : String(path), isRetry: destination.isRetry)
        return "\(origin)\(routes.enter)?code=\(code.text)&\(rest.query)"
    }

    /// Parses a return target; nil if the target is not allowed.
    func target(_ text: String?, request: WebRequest) -> ReturnTarget? {
        guard let text, let host = RequestHost(request.authority) else { return nil }
        return ReturnTarget(text, at: SignInSettings.Origin(host), settings, sharing: hosts)
    }

    // MARK: At another host

    /// `GET /enter`: redeems a code for a session of this host.
    func enter(_ request: WebRequest) async -> RenderedResponse {
        let query = FormFields(query: request.query)
        let destination = Destination(query)
        let location = ownLocation(destination.target, request: request)
        guard let hosts, let host = RequestHost(request.authority), hosts.contains(SignInSettings.Origin(host)) else {
            return redirect(location, answering: request)
        }
        guard request.isNavigation else { return render(.crossOrigin, to: request) }
        let code = query?.textIfValid("code").flatMap { OpaqueToken($0.string.utf8Span.span) }
        if let code, let parent = redeem(code, at: SignInSettings.Origin(host), request: request) {
            if let response = await begin(parent, at: host.sessionHost, location: location, request: request) {
                return response
            }
        } else if let (session, _) = session(request, isActivity: true) {
            // Another tab of the browser has got the session.
            return redirect(location, answering: request, user: session.user)
        }
        return beginAgain(destination, location: location, request: request)
    }

    private func redeem(_ code: OpaqueToken, at origin: SignInSettings.Origin, request: WebRequest) -> Session? {
        var challenge: Digest?
        if case .token(let verifier) = request.cookies.verifier {
            challenge = try? Destination.challenge(of: verifier)
            guard challenge != nil else { return nil }
        }
        switch service.handOverCodes.redeem(code, at: origin, challenge: challenge) {
        case .session(let session): return session
        case .unknown, .withoutVerifier: return nil
        case .rejected(let session, let reason):
            service.log.logRejectedHandOver(of: session, to: origin, reason: reason, address: request.address)
            return nil
        }
    }

    /// Begins the child session; returns nil if the sign-in has ended.
    private func begin(
        _ parent: Session,
        at host: SessionHost,
        location: String,
        request: WebRequest
    ) async -> RenderedResponse? {
        // The earlier session of the browser at this host may belong to another user.
        guard await endEarlierSessions(request, except: parent) else {
            return render(.notStored, to: request, cookies: request.sessionRemoval)
        }
        do throws(SessionFault) {
            let (session, token) = try await sessions.beginChild(of: parent, at: host, from: request.sessionClient)
            service.log.logBeginning(session)
            let cookies = SetCookie.session(token, replacing: request.cookies.session) + [SetCookie.verifierRemoval]
            return redirect(location, answering: request, cookies: cookies, user: session.user)
        } catch {
            switch error.code {
            case .ended, .changedMeanwhile: return nil
            case .full, .tooManyStreams, .closing, .unavailable:
                return render(.unavailable, to: request, user: parent.user)
            }
        }
    }

    /// Begins a failed hand-over again; after the second failure, returns a page.
    private func beginAgain(_ destination: Destination, location: String, request: WebRequest) -> RenderedResponse {
        guard !destination.isRetry else {
            let page: Page =
                request.cookies.verifier.isToken
                ? .handOverFailed(link: location) : .cookieNeeded(at: request.authority, link: location)
            return render(page, to: request)
        }
        let cookies = request.cookies
        switch context.links.link(from: .init(location, at: request.authority, cookies: cookies, isRetry: true)) {
        case .link(let link):
            // The link keeps a verifier that the browser has, even if it is partitioned.
            let removal = SetCookie.partitionedVerifierRemoval(cookies.verifier)
            return redirect(link.location, answering: request, cookies: link.cookie.map { removal + [$0] } ?? [])
        case .unknownHost, .unavailable: return render(.unavailable, to: request)
        }
    }

    /// Returns a target at the host of the request; the root page if the target is at another host or is not allowed.
    private func ownLocation(_ text: String?, request: WebRequest) -> String {
        guard let target = target(text, request: request), target.origin == nil else { return "/" }
        return target.location
    }

    // MARK: Pages that exist only at the sign-in host

    /// Returns the response to a request for such a page at a host that shares the sign-in host; nil for other requests.
    ///
    /// No other host accepts a password: an application at that host could read it, for example with a service worker.
    /// The list of the user's sessions is also shown only at the sign-in host.
    func responseAtOtherHost(
        _ route: Route,
        to request: WebRequest
    ) async throws(RejectedForm) -> RenderedResponse? {
        guard let hosts, let host = RequestHost(request.authority), SignInSettings.Origin(host) != hosts.origin else {
            return nil
        }
        switch route {
        case .signIn where request.isSafe, .step:
            let destination = Destination(FormFields(query: request.query))
            return redirect(destination, of: host, hasForm: !request.isSafe, to: request)
        case .signIn:
            // The page was loaded before this host had a sign-in host. The user name and the password are not used.
            let destination = SignInTickets.destination(try await form(request).textIfValid("ticket")) ?? Destination()
            return redirect(destination, of: host, hasForm: true, to: request)
        case .account where request.isSafe:
            return redirect("\(hosts.origin)\(routes.account)", answering: request)
        case .account, .accountEnd:
            return render(.onlyAtSignInHost(hosts.origin.host, link: "\(hosts.origin)\(routes.signIn)"), to: request)
        case .session where request.method == "POST", .sessions, .oneSession:
            return error("only-at-sign-in-host", status: .forbidden, to: request)
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
    ) -> RenderedResponse {
        let page = "\(hosts?.origin.description ?? "")\(routes.signIn)"
        let notice = hasForm ? "notice=\(Notice.expired.name)" : ""
        guard let target = target(destination.target, request: request) else {
            return redirect(Self.link(page, notice), answering: request)
        }
        guard target.origin == nil else {
            // This host was the sign-in host of another host, which has bound the challenge to its browser.
            let destination = Destination(target: target.location, challenge: destination.challenge)
            let query = [destination.query, notice].filter { !$0.isEmpty }.joined(separator: "&")
            return redirect(Self.link(page, query), answering: request)
        }
        switch context.links.link(from: .init(target.location, at: host.text, cookies: request.cookies)) {
        case .link(let link):
            let location = notice.isEmpty ? link.location : "\(link.location)&\(notice)"
            return redirect(location, answering: request, cookies: [link.cookie].compactMap(\.self))
        // No rule with a form names this host, so its pages need no sign-in.
        case .unknownHost where hasForm: return redirect(Self.link(page, notice), answering: request)
        case .unknownHost(let host):
            return render(.badRequest(Message(.unknownHost, ["host": .verbatim(host)])), to: request)
        case .unavailable: return render(.unavailable, to: request)
        }
    }
}
