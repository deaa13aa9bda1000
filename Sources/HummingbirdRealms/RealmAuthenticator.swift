// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Gatehouse
public import Hummingbird
public import RealmConfiguration
public import RealmKit

/// Finds out who a request is from, and tells the context; it refuses nobody for being nobody.
///
/// Where several look at one request, the last decides: behind one that asks other realms, somebody whom an earlier one has
/// found may be nobody.
///
/// A request that cannot be understood is answered by 400, and one of somebody that a page of another site has sent and
/// that would change something by 403.
public struct RealmAuthenticator<Context: RealmRequestContext>: RouterMiddleware {
    private let door: Door
    private let names: [String]
    private let schemes: [ProtectRule.Scheme]
    private let isActivity: Bool

    /// An authenticator that asks some realms.
    ///
    /// - Parameters:
    ///   - realms: The realms.
    ///   - names: The names of the realms that are asked, in order; nil for those that the sign-in page asks.
    ///   - schemes: How people may show who they are, the preferred first: with `form` first, people who are nobody are
    ///     sent to the sign-in page.
    ///   - isActivity: Whether a request begins the idle time of its session anew; no for what scripts ask by themselves.
    /// - Throws: ``RealmError`` of code `noSuchRealm`.
    public init(
        _ realms: Realms,
        asking names: [String]? = nil,
        schemes: [ProtectRule.Scheme] = [.form, .basic],
        isActivity: Bool = true
    ) throws(RealmError) {
        let names = names ?? realms.desk.signInRealms
        for name in names { _ = try realms.configuration.authenticator.realm(name) }
        door = realms.desk.door(realms: names, schemes: schemes)
        self.names = names
        self.schemes = schemes
        self.isActivity = isActivity
    }

    /// Looks who is there, and hands the request on.
    public func handle(
        _ request: Request,
        context: Context,
        next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        var context = context
        if let visitor = context.identity.visitor, isOurs(visitor) {
            context.identity.finding = .visitor(visitor, door)
            return try await next(request, context)
        }
        let peer = context.identity.peer
        switch await door.look(request, peer: peer, isActivity: isActivity, logger: context.logger) {
        case .visitor(let visitor): context.identity.finding = .visitor(visitor, door)
        case .refused(let refusal): context.identity.finding = .nobody(refusal)
        case .everybody, .unruled: context.identity.finding = .nobody(door.refusal(nil))
        case .stopped(let response): return response
        }
        return try await PersonalAnswer.marking(isPersonal: context.user != nil) { try await next(request, context) }
    }

    /// Whether somebody whom other middleware has found is one whom this would have found.
    private func isOurs(_ visitor: Door.Visitor) -> Bool {
        schemes.contains(visitor.session == nil ? .basic : .form)
            && names.contains { $0.utf8.elementsEqual(visitor.user.realm.utf8) }
    }
}
