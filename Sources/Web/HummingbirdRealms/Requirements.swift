// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes
public import Hummingbird
internal import Logging
internal import RealmConfiguration
internal import RealmKit
internal import Synchronization

/// Allows requests of authenticated users only.
///
/// A browser that opens a page is redirected to the sign-in page. Any other request without a user gets 401. Add this
/// middleware after ``RealmAuthenticator``: a request that no middleware has checked gets 500.
public struct RequireUser<Context: RealmRequestContext>: RouterMiddleware {
    private let requirement = RouteRequirement(.any)

    /// Creates middleware that allows every authenticated user.
    public init() {}

    /// Passes on the request of a user.
    public func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        try await requirement.pass(request, context: context, next: next)
    }
}

/// Allows requests of members of groups only.
///
/// Other users get 403.
public struct RequireGroup<Context: RealmRequestContext>: RouterMiddleware {
    private let requirement: RouteRequirement

    /// Creates middleware that allows users who are in at least one of the groups.
    ///
    /// - Parameter groups: The names of the groups. They are case-sensitive.
    public init(_ groups: String...) { requirement = RouteRequirement(.groups(groups)) }

    /// Passes on the request of a member.
    public func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        try await requirement.pass(request, context: context, next: next)
    }
}

/// Allows requests of users with a role of realms.conf only.
///
/// Other users get 403.
public struct RequireRole<Context: RealmRequestContext>: RouterMiddleware {
    private let requirement: RouteRequirement

    /// Creates middleware that allows users who have at least one of the roles.
    ///
    /// - Parameters:
    ///   - names: The names of the roles.
    ///   - realms: The realms. Their configuration defines the roles.
    /// - Throws: ``UnknownRole`` when realms.conf does not define a role. A configuration without the role is not
    ///   reloaded.
    public init(_ names: String..., of realms: Realms) throws(UnknownRole) {
        let access = realms.access
        for name in names where access.configuration.role(name) == nil { throw UnknownRole(name: name) }
        realms.namesInCode.withLock { $0.roles.formUnion(names.map { UTF8Text($0) }) }
        requirement = RouteRequirement(rolesNamed: names, of: realms)
    }

    /// Passes on the request of a user with one of the roles.
    public func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        try await requirement.pass(request, context: context, next: next)
    }
}

/// The error for a role that realms.conf does not define.
public struct UnknownRole: Error, Sendable, Hashable, CustomStringConvertible {
    /// The name of the role.
    public let name: String

    /// The message for the log of the program.
    public var description: String { "realms.conf has no role \(name)" }
}

/// The requirement of a route, whose check is made once for each configuration.
private struct RouteRequirement: Sendable {
    private typealias Check = (requirement: ProtectRule.Requirement, isMet: @Sendable (SignedInUser) -> Bool)

    private let check: @Sendable () -> Check

    init(_ requirement: ProtectRule.Requirement) {
        let check = (requirement, requirement.check)
        self.check = { check }
    }

    init(rolesNamed names: [String], of realms: Realms) {
        let checks = PerConfiguration<Check>(realms.access) { access in
            let requirement = ProtectRule.Requirement.roles(names.compactMap { access.configuration.role($0) })
            return (requirement, requirement.check)
        }
        check = { checks.value(in: realms.access) }
    }

    /// Passes on a request if its user meets the requirement, and denies any other request.
    func pass<Context: RealmRequestContext>(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        switch context.authentication.result {
        case .user(let user, let routeGuard):
            let (requirement, isMet) = check()
            guard isMet(user.user) else {
                RequestLog(logger: context.logger).logRefusal(
                    of: request,
                    requiring: [requirement],
                    user: user.user,
                    address: context.authentication.peer
                )
                guard let routeGuard else { throw HTTPError(.forbidden) }
                return routeGuard.rejection(of: user).response(to: request)
            }
            if routeGuard != nil { return try await next(request, context) }
            // No authenticator of ours has added the fields for caches.
            return try await CacheHeaders.add(isPersonal: true) { try await next(request, context) }
        case .anonymous(let rejection): return rejection.response(to: request)
        case .notChecked:
            context.logger.error("request denied: its route has no RealmAuthenticator or ProtectedByRules")
            throw RealmAuthentication.notChecked
        }
    }
}
