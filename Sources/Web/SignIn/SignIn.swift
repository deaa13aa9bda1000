// SPDX-License-Identifier: Apache-2.0

package import AccessControl
internal import Bytes
package import OpenSSLKit
internal import Passwords
package import RealmConfiguration
package import RealmKit
internal import Sessions
internal import Synchronization
internal import Throttle

/// The sign-in of a configuration: the decisions about requests, the pages, the session API and the realm API, for any
/// server.
///
/// Each page is an extension in a file of its own. A server finds the route of a request by ``Routes``.
package final class SignIn: Sendable {
    package let accessController: AccessController
    package let context: PageContext
    /// The names of the realms in which users log in if no rule names other realms.
    package let realms: [String]
    /// The use of the next of these realms if a realm is unavailable.
    package let whenUnavailable: WhenUnavailable
    let settings: SignInSettings
    /// The state that is kept over reloads.
    let service: SignInService
    /// The programs that may use the realm API; nil if it is disabled.
    let clients: APIClients?
    /// The number of reloads that led to this configuration.
    ///
    /// After a further one, a login that this sign-in began creates a session only if the realm is unchanged.
    let generation: Int
    /// The time for which failed logins lock an account, in minutes; nil if they lock none.
    let lockMinutes: Int?

    var rules: ProtectionRules { accessController.rules }
    var authenticator: Authenticator { accessController.authenticator }
    var sessions: SessionTable { service.sessions }
    var routes: Routes { context.routes }
    /// The sign-in host and the hosts that share it; nil if there is no sign-in host.
    var hosts: SignInHosts? { context.links.hosts }

    /// The sign-in of a configuration, whose realms are checked for changed users from now on.
    ///
    /// A reload is counted next, by ``SignInService/countReload(to:)``.
    package init(
        _ configuration: Configuration,
        service: SignInService,
        isCertificateTrusted: Bool,
        isReload: Bool = false
    ) throws(OpenSSLError) {
        let server = configuration.server
        let acceptedLogins = try AcceptedLogins(
            clock: service.clock,
            log: configuration.services[RealmLog.self] ?? RealmLog { _, _ in }
        )
        var authenticator = configuration.authenticator.throttled(by: service.throttle).caching(by: acceptedLogins)
        if let metrics = service.loginMetrics { authenticator = authenticator.observed(by: metrics) }
        accessController = AccessController(
            rules: ProtectionRules(configuration.rules, preflightHosts: server.preflightHosts),
            authenticator: authenticator,
            sessions: service.sessions,
            credentialCache: try CredentialCache(lifetime: server.credentialCache.nanoseconds),
            acceptedLogins: acceptedLogins,
            clock: service.clock,
            wallClock: service.wallClock
        )
        context = try PageContext(configuration, isCertificateTrusted: isCertificateTrusted)
        settings = server.signIn
        self.service = service
        clients = server.realmAPI.map { APIClients($0.clients, throttle: service.throttle) }
        // A request may be received before a reload and begin its login after it, so the login is not counted by the
        // time at which it begins.
        generation = service.generation + (isReload ? 1 : 0)
        let throttle = server.throttle
        lockMinutes = throttle.failures > 0 ? Int((throttle.lock / .seconds(60)).rounded(.up)) : nil
        let named = settings.realms.isEmpty ? configuration.defaultRealm.map { [$0] } : settings.realms
        let rule = named == nil ? configuration.rules.first { $0.schemes.contains(.form) } : nil
        realms = named ?? rule?.realms ?? []
        whenUnavailable = settings.whenUnavailable ?? rule?.whenUnavailable ?? .continue
        service.refresher.use(configuration.realms, accessController: accessController)
        service.hashingPool.withLock { $0 = configuration.services[PasswordService.self]?.pool }
    }

    /// Answers a request for a page or the session API.
    package func respond(at route: Route, to request: WebRequest) async -> RenderedResponse {
        let allowed = route.methods
        guard allowed.contains(request.method) else { return render(.methodNotAllowed(allowed), to: request) }
        if !request.isSafe, request.isCrossOrigin { return render(.crossOrigin, to: request) }
        if request.host == nil, let rejection = rejectionWithoutHost(route, request: request) { return rejection }
        do throws(RejectedForm) {
            if let response = try await responseAtOtherHost(route, to: request) { return response }
            return try await response(at: route, to: request)
        } catch {
            return error.response
        }
    }

    private func response(at route: Route, to request: WebRequest) async throws(RejectedForm) -> RenderedResponse {
        switch route {
        // A script or a service worker of the application must not read or send the page, and a frame of another host
        // must not start a hand-over without the user. A service worker that passes on the request of the browser
        // cannot be distinguished from the browser.
        case .signIn where !request.isDocument, .step where !request.isDocument:
            return render(.crossOrigin, to: request)
        case .signIn: return request.isSafe ? showSignIn(request) : try await signIn(request)
        case .step: return request.isSafe ? showStep(request) : try await answerStep(request)
        case .enter: return await enter(request)
        case .signOut: return request.isSafe ? showSignOut(request) : await signOut(request)
        case .account: return showAccount(request)
        case .accountEnd: return try await endSessions(request)
        case .session:
            switch request.method {
            case "POST": return await createSession(request)
            case "DELETE": return await deleteSession(request)
            default: return showSession(request)
            }
        case .sessionRefresh: return refreshSession(request)
        case .sessionEvents: return showEvents(request)
        case .sessions: return listSessions(request)
        case .oneSession(let id): return await deleteSession(id, request: request)
        case .realms, .realmCheck, .asset, .forwardAuth: return render(.notFound, to: request)
        }
    }

    /// Returns the response to a sign-in whose host is invalid, because a session belongs to a host; nil for other
    /// requests.
    private func rejectionWithoutHost(_ route: Route, request: WebRequest) -> RenderedResponse? {
        switch route {
        case .signIn, .step: request.isSafe ? nil : render(.badRequest(.key(.invalidHost)), to: request)
        case .session:
            request.method == "POST" ? malformed(Translation.english[.invalidHost], to: request) : nil
        case .enter, .signOut, .account, .accountEnd, .sessionRefresh, .sessionEvents, .sessions, .oneSession, .realms,
            .realmCheck, .asset, .forwardAuth:
            nil
        }
    }
}
