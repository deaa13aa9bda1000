// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import Hummingbird
public import RealmConfiguration
public import RealmKit

/// Authenticates requests and stores the user in the context; requests without a user pass.
///
/// If a request passes several authenticators, the last one decides. A user of a realm that it does not accept is
/// removed from the context.
///
/// An ambiguous or malformed request is answered by 400. An authenticated request that changes something and comes from
/// a page of another site is answered by 403.
public struct RealmAuthenticator<Context: RealmRequestContext>: RouterMiddleware {
    private let routeGuard: RouteGuard
    private let names: [String]
    private let schemes: [ProtectRule.Scheme]
    private let isActivity: Bool

    /// Creates an authenticator for some realms.
    ///
    /// - Parameters:
    ///   - realms: The realms.
    ///   - names: The names of the realms that authenticate users, in order; nil for those of the sign-in page.
    ///   - schemes: The authentication schemes, the preferred one first. With `form` first, browsers without a session
    ///     are redirected to the sign-in page.
    ///   - isActivity: True if a request extends the idle time of its session; false for requests that scripts send
    ///     without an action of the user.
    /// - Throws: ``RealmError`` of code `noSuchRealm`.
    public init(
        _ realms: Realms,
        in names: [String]? = nil,
        schemes: [ProtectRule.Scheme] = [.form, .basic],
        isActivity: Bool = true
    ) throws(RealmError) {
        let names = names ?? realms.access.signInRealms
        for name in names { _ = try realms.configuration.authenticator.realm(name) }
        routeGuard = realms.access.routeGuard(realms: names, schemes: schemes)
        self.names = names
        self.schemes = schemes
        self.isActivity = isActivity
    }

    /// Authenticates a request and passes it on.
    public func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        var context = context
        if let authenticated = context.identity.authenticated, isOurs(authenticated) {
            context.identity.finding = .user(authenticated, routeGuard)
            return try await next(request, context)
        }
        let peer = context.identity.peer
        switch await routeGuard.check(request, peer: peer, isActivity: isActivity, logger: context.logger) {
        case .user(let user): context.identity.finding = .user(user, routeGuard)
        case .rejected(let rejection): context.identity.finding = .anonymous(rejection)
        case .open, .noMatchingRule: context.identity.finding = .anonymous(routeGuard.rejection(of: nil))
        case .stopped(let response): return response
        }
        return try await CacheHeaders.marking(isPersonal: context.user != nil) { try await next(request, context) }
    }

    /// Returns whether this authenticator accepts a user whom other middleware has authenticated.
    private func isOurs(_ authenticated: RouteGuard.AuthenticatedUser) -> Bool {
        schemes.contains(authenticated.session == nil ? .basic : .form)
            && names.contains { $0.utf8.elementsEqual(authenticated.user.realm.utf8) }
    }
}
