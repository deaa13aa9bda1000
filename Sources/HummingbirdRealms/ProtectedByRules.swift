// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Gatehouse
internal import HTTPTypes
public import Hummingbird

/// Applies the `protect` rules of realms.conf to the routes of the application.
///
/// It is added to the router itself, before any route: Hummingbird runs middleware for the routes that are added after it.
/// Rules compare paths byte by byte, so the router must not be `caseInsensitive`. A path that two programs might read
/// differently is answered by 400.
public struct ProtectedByRules<Context: RealmRequestContext>: RouterMiddleware {
    /// What becomes of requests that no rule is about.
    public enum Unruled: Sendable {
        /// They are refused by 403.
        case refused
        /// Everybody may make them.
        case open
    }

    private let door: Door
    private let unruled: Unruled
    private let isActivity: Bool

    /// The rules of a configuration.
    ///
    /// - Parameters:
    ///   - realms: The realms.
    ///   - unruled: What becomes of requests that no rule is about.
    ///   - isActivity: Whether a request begins the idle time of its session anew.
    public init(_ realms: Realms, unruled: Unruled = .refused, isActivity: Bool = true) {
        door = realms.desk.rulesDoor
        self.unruled = unruled
        self.isActivity = isActivity
    }

    /// Hands on a request that may pass.
    public func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        var context = context
        let peer = context.identity.peer
        switch await door.look(request, peer: peer, isActivity: isActivity, logger: context.logger) {
        case .visitor(let visitor):
            context.identity.finding = .visitor(visitor, door)
            return try await PersonalAnswer.marking(isPersonal: true) { try await next(request, context) }
        case .everybody: return try await next(request, context)
        case .unruled:
            switch unruled {
            case .refused: return door.refusal(nil).response(to: request)
            case .open: return try await next(request, context)
            }
        case .refused(let refusal): return refusal.response(to: request)
        case .stopped(let response): return response
        }
    }
}
