// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import HTTPTypes
public import Hummingbird

/// Applies the `protect` rules of realms.conf to the routes of the application.
///
/// Add it to the router before any route: Hummingbird runs middleware only for routes that are added after it. Rules
/// compare paths byte by byte, so the router must not be `caseInsensitive`. A request with an ambiguous path gets 400.
public struct ProtectedByRules<Context: RealmRequestContext>: RouterMiddleware {
    /// The handling of requests that no rule matches.
    public enum UnmatchedRequests: Sendable {
        /// The requests are denied with 403.
        case denied
        /// The requests are allowed.
        case open
    }

    private let realms: Realms
    private let unmatched: UnmatchedRequests
    private let isActivity: Bool

    /// Creates the middleware for the rules of a configuration.
    ///
    /// - Parameters:
    ///   - realms: The realms.
    ///   - unmatched: The handling of requests that no rule matches.
    ///   - isActivity: True if a request extends the idle time of its session.
    public init(_ realms: Realms, unmatched: UnmatchedRequests = .denied, isActivity: Bool = true) {
        self.realms = realms
        self.unmatched = unmatched
        self.isActivity = isActivity
    }

    /// Passes on an allowed request and stores the user in its context; rejects any other request.
    public func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        var context = context
        let routeGuard = realms.access.rulesGuard
        let connection = context.authentication.connection
        switch await routeGuard.check(request, from: connection, isActivity: isActivity, logger: context.logger) {
        case .user(let user):
            context.authentication.result = .user(user, routeGuard)
            return try await CacheHeaders.add(isPersonal: true) { try await next(request, context) }
        case .open: return try await next(request, context)
        case .noMatchingRule:
            switch unmatched {
            case .denied:
                RequestLog(logger: context.logger).logRefusal(
                    of: request,
                    after: AccessResult(.noMatchingRule, by: nil),
                    address: context.authentication.peer
                )
                return routeGuard.rejection(of: nil).response(to: request)
            case .open: return try await next(request, context)
            }
        case .rejected(let rejection): return rejection.response(to: request)
        case .answered(let response): return response
        }
    }
}
