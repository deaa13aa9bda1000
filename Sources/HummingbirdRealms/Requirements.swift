// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Gatehouse
public import Hummingbird
internal import Logging
internal import RealmConfiguration

/// Lets those pass who are signed in.
///
/// Everybody else is answered by 401, or sent to the sign-in page if a person goes to a page. It goes behind
/// ``RealmAuthenticator``; where that is missing, nobody passes.
public struct RequireUser<Context: RealmRequestContext>: RouterMiddleware {
    /// Everybody who is signed in.
    public init() {}

    /// Hands on the request of somebody.
    public func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        try await Requirement.check([.any], request, context, next)
    }
}

/// Lets the members of groups pass; whoever is signed in and none of them is answered by 403.
public struct RequireGroup<Context: RealmRequestContext>: RouterMiddleware {
    private let groups: [String]

    /// The members of one of some groups.
    ///
    /// - Parameter groups: The groups' names; upper and lower case differ.
    public init(_ groups: String...) {
        self.groups = groups
    }

    /// Hands on the request of a member.
    public func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        try await Requirement.check([.groups(groups)], request, context, next)
    }
}

/// Lets those pass who have a role of realms.conf; whoever is signed in and has none is answered by 403.
public struct RequireRole<Context: RealmRequestContext>: RouterMiddleware {
    private let roles: [Role]

    /// Those who have one of some roles.
    ///
    /// - Parameters:
    ///   - names: The roles' names.
    ///   - realms: The realms, whose configuration says who has which role.
    /// - Throws: ``UnknownRole`` for a name that realms.conf does not have.
    public init(_ names: String..., of realms: Realms) throws(UnknownRole) {
        var roles: [Role] = []
        for name in names {
            let known = realms.configuration.roles.first { $0.name.utf8.elementsEqual(name.utf8) }
            guard let known else { throw UnknownRole(name: name) }
            roles.append(known)
        }
        self.roles = roles
    }

    /// Hands on the request of somebody who has a role.
    public func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        try await Requirement.check([.roles(roles)], request, context, next)
    }
}

/// A role that realms.conf does not have.
public struct UnknownRole: Error, Sendable, Hashable, CustomStringConvertible {
    /// The role's name.
    public let name: String

    /// What is wrong, for whoever starts the program.
    public var description: String { "realms.conf has no role \(name)" }
}

private enum Requirement {
    /// Decides as a rule of realms.conf with these requirements would.
    static func check<Context: RealmRequestContext>(
        _ requirements: [ProtectRule.Requirement],
        _ request: Request,
        _ context: Context,
        _ next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        switch context.identity.finding {
        case .visitor(let visitor, let door):
            guard visitor.meets(requirements) else { return door.refusal(visitor).response(to: request) }
            return try await next(request, context)
        case .nobody(let refusal): return refusal.response(to: request)
        case .unasked:
            context.logger.error("no RealmAuthenticator has looked who is there, so nobody passes")
            throw RealmIdentity.unasked
        }
    }
}
