// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import Hummingbird
internal import Logging
internal import RealmConfiguration

/// Allows requests of authenticated users only.
///
/// Other requests are answered by 401; a browser that opens a page is redirected to the sign-in page. Add it behind
/// ``RealmAuthenticator``: a request that no middleware has checked is answered by 500.
public struct RequireUser<Context: RealmRequestContext>: RouterMiddleware {
    /// Creates a requirement that every authenticated user meets.
    public init() {}

    /// Passes on the request of a user.
    public func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        try await Requirement.check([.any], request, context, next)
    }
}

/// Allows requests of the members of groups only; other users are answered by 403.
public struct RequireGroup<Context: RealmRequestContext>: RouterMiddleware {
    private let groups: [String]

    /// Creates a requirement that the members of any of some groups meet.
    ///
    /// - Parameter groups: The names of the groups, case-sensitive.
    public init(_ groups: String...) {
        self.groups = groups
    }

    /// Passes on the request of a member.
    public func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        try await Requirement.check([.groups(groups)], request, context, next)
    }
}

/// Allows requests of users with a role of realms.conf only; other users are answered by 403.
public struct RequireRole<Context: RealmRequestContext>: RouterMiddleware {
    private let roles: [Role]

    /// Creates a requirement that users with any of some roles meet.
    ///
    /// - Parameters:
    ///   - names: The names of the roles.
    ///   - realms: The realms, whose configuration defines the roles.
    /// - Throws: ``UnknownRole`` for a role that realms.conf does not define.
    public init(_ names: String..., of realms: Realms) throws(UnknownRole) {
        var roles: [Role] = []
        for name in names {
            let known = realms.configuration.roles.first { $0.name.utf8.elementsEqual(name.utf8) }
            guard let known else { throw UnknownRole(name: name) }
            roles.append(known)
        }
        self.roles = roles
    }

    /// Passes on the request of a user with one of the roles.
    public func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        try await Requirement.check([.roles(roles)], request, context, next)
    }
}

/// A role that realms.conf does not define.
public struct UnknownRole: Error, Sendable, Hashable, CustomStringConvertible {
    /// The role's name.
    public let name: String

    /// The error message, for the log of the program.
    public var description: String { "realms.conf has no role \(name)" }
}

private enum Requirement {
    /// Passes a request on or denies it, like a rule of realms.conf with the same requirements.
    static func check<Context: RealmRequestContext>(
        _ requirements: [ProtectRule.Requirement],
        _ request: Request,
        _ context: Context,
        _ next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        switch context.identity.finding {
        case .user(let user, let routeGuard):
            guard user.meets(requirements) else { return routeGuard.rejection(of: user).response(to: request) }
            return try await next(request, context)
        case .anonymous(let rejection): return rejection.response(to: request)
        case .notChecked:
            context.logger.error("no RealmAuthenticator or ProtectedByRules has checked the request, so it is denied")
            throw RealmIdentity.notChecked
        }
    }
}
