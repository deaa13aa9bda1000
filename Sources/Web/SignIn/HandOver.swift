// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes
internal import HummingbirdCore
internal import OpenSSLKit
internal import RealmConfiguration
internal import RealmKit
internal import Sessions

/// The hand-over of a session from the sign-in host to another host.
///
/// 1. A protected host redirects the browser to the sign-in host, with the challenge of a verifier that only a cookie
///    of the protected host contains (``SignInLinks``).
/// 2. The sign-in host has a session, or signs the user in. It redirects the browser back, with a code
///    (``location(of:for:request:)``).
/// 3. The protected host redeems the code for a child session of its own (``enter(_:)``).
struct HandOver: SignInComponent {
    let site: SignInSite

    // MARK: At the sign-in host

    /// Returns the location to which a signed-in browser is redirected: with a code, if the destination is at a host
    /// that expects a hand-over; otherwise the target itself, or the account page if the target is not allowed.
    func location(of destination: Destination, for session: Session, request: WebRequest) -> String {
        guard let target = target(destination.target, request: request) else { return routes.account }
        guard let challenge = destination.challenge, let origin = target.origin, hosts?.contains(origin) == true else {
            return target.location
        }
        guard let code = try? state.handOverCodes.issue(for: session.signIn, to: origin, challenge: challenge) else {
            // The host of the target begins the hand-over again.
            return target.location
        }
        let path = target.location.dropFirst(origin.description.utf8.count)
        let rest = Destination(target: path.isEmpty ? "/" : String(path), isRetry: destination.isRetry)
        return "\(origin)\(routes.enter)?code=\(code.text)&\(rest.query)"
    }

    /// Returns true if a session can be handed over to a destination without a sign-in: the destination expects a
    /// hand-over, and its rule accepts the realm of the user.
    func isAccepted(
        _ session: Session,
        for destination: Destination,
        target: ReturnTarget?,
        by rule: ProtectRule?
    ) -> Bool {
        destination.challenge != nil && target?.origin != nil && rule?.realms.contains(session.user.realm) == true
    }

    // MARK: At another host

    /// `GET /enter`: redeems a code for a session of this host.
    func enter(_ request: WebRequest) async -> LoggedResponse {
        let query = FormFields(query: request.query)
        let destination = Destination(query)
        let location = ownLocation(destination.target, request: request)
        guard let hosts, let host = RequestHost(request.authority), hosts.contains(SignInSettings.Origin(host)) else {
            return LoggedResponse(redirect(location, answering: request))
        }
        guard request.isNavigation else { return LoggedResponse(render(.crossOrigin, to: request)) }
        let code = query?.read("code").flatMap { OpaqueToken($0.string.utf8Span.span) }
        if let code, let parent = redeem(code, at: SignInSettings.Origin(host), request: request) {
            if let response = await begin(parent, at: host.sessionHost, location: location, request: request) {
                return response
            }
        } else if let (session, _) = session(request, isActivity: true) {
            // Another tab of the browser has got the session.
            return LoggedResponse(redirect(location, answering: request), user: session.user)
        }
        return failed(destination, location: location, request: request)
    }

    private func redeem(_ code: OpaqueToken, at origin: SignInSettings.Origin, request: WebRequest) -> Session? {
        var challenge: Digest?
        if case .token(let verifier) = request.cookies.verifier {
            challenge = try? Destination.challenge(of: verifier)
            guard challenge != nil else { return nil }
        }
        switch state.handOverCodes.redeem(code, at: origin, challenge: challenge) {
        case .session(let session): return session
        case .unknown, .withoutVerifier: return nil
        case .rejected(let session, let reason):
            state.log.logRejectedHandOver(of: session, to: origin, reason: reason, address: request.address)
            return nil
        }
    }

    /// Begins the child session; returns nil if the sign-in has ended.
    private func begin(
        _ parent: Session,
        at host: SessionHost,
        location: String,
        request: WebRequest
    ) async -> LoggedResponse? {
        // The earlier session of the browser at this host may belong to another user.
        guard await endEarlierSessions(request, except: parent) else {
            return LoggedResponse(render(.notStored, to: request, cookies: request.sessionRemoval))
        }
        do throws(SessionFault) {
            let (session, token) = try await sessions.beginChild(of: parent, at: host, from: request.sessionClient)
            state.log.logBeginning(session)
            let cookies = SetCookie.session(token, replacing: request.cookies.session) + [SetCookie.verifierRemoval]
            return LoggedResponse(redirect(location, answering: request, cookies: cookies), user: session.user)
        } catch {
            switch error.code {
            case .ended, .changedMeanwhile: return nil
            case .full, .tooManyStreams, .closing, .unavailable:
                return LoggedResponse(render(.unavailable, to: request), user: parent.user)
            }
        }
    }

    /// Begins the hand-over again; after the second failure, returns a page.
    private func failed(_ destination: Destination, location: String, request: WebRequest) -> LoggedResponse {
        guard !destination.isRetry else {
            let page: Page =
                request.cookies.verifier.isToken
                ? .handOverFailed(link: location) : .cookieNeeded(at: request.authority, link: location)
            return LoggedResponse(render(page, to: request))
        }
        let requested = SignInLinks.Requested(
            location,
            at: request.authority,
            cookies: request.cookies,
            isRetry: true
        )
        switch context.links.link(from: requested) {
        case .link(let link):
            // The link keeps a verifier that the browser has, even if it is partitioned.
            let removal = SetCookie.partitionedVerifierRemoval(request.cookies.verifier)
            let cookies = link.cookie.map { removal + [$0] } ?? []
            return LoggedResponse(redirect(link.location, answering: request, cookies: cookies))
        case .unknownHost, .unavailable: return LoggedResponse(render(.unavailable, to: request))
        }
    }

    /// Returns a target at the host of the request; the root page if the target is at another host or is not allowed.
    private func ownLocation(_ text: String?, request: WebRequest) -> String {
        guard let target = target(text, request: request), target.origin == nil else { return "/" }
        return target.location
    }
}
