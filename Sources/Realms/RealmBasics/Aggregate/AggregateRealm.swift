// SPDX-License-Identifier: Apache-2.0

internal import Bytes
public import RealmKit

/// A realm that authenticates its users in one realm, and takes further groups and attributes from other realms.
///
/// ```
/// realm people {
///     class           AggregateRealm;
///     authentication  accounts;
///     authorization   directory staff;
///     name-mapping    lower-case "*@example.org->*";
/// }
/// ```
///
/// Properties: `jaas-context` (`aggregateRealm`), `authentication`, `authorization`, `name-mapping`, `when-unavailable`
/// (`stop`), `authorization-deadline` (`12s`); see docs/realms/aggregate.md. It may be used from any thread. Source:
/// the aggregate realm and the principal transformers of WildFly Elytron.
public struct AggregateRealm: Realm {
    /// The properties that are listed above.
    public static let properties: PropertySchema = [
        .jaasContext(default: "aggregateRealm"),
        .required("authentication", .realm),
        .optional("authorization", .realms),
        Property("name-mapping", .list, default: ""),
        Property("when-unavailable", .choice(WhenUnavailable.allCases.map(\.rawValue)), default: "stop"),
        Property("authorization-deadline", .duration, default: "12s"),
    ]

    /// The entry of login.conf with the ``AggregateLoginModule``.
    public let jaasContext: String
    let authentication: BoundRealm
    let authorization: Authorization

    /// The rules of `name-mapping` that are never applied.
    public let warnings: [RealmWarning]

    /// The authentication type `aggregate`.
    public var authType: String { "aggregate" }

    /// Creates the realm; throws if a rule of `name-mapping` is malformed, or `authorization-deadline` is out of bounds.
    ///
    /// If the services contain a `RealmLog`, it receives a line when a realm of `authorization` becomes unavailable or
    /// available again.
    public init(_ properties: RealmProperties) throws(BadRealm) {
        jaasContext = try properties.jaasContext
        authentication = try properties.realm("authentication")
        authorization = try Authorization(properties, clock: authentication.stack.clock)
        let rules = try properties.list("name-mapping")
        warnings = authorization.mapping.unusedRules.map { rule in
            let message = "the rule \(rules[rule.number]) is never applied: \(rule.reason)"
            return RealmWarning(message, setting: "name-mapping", word: rule.number)
        }
    }

    /// Returns the groups of a user in the authentication realm and in the authorization realms.
    public func groupNames(of user: Username) async throws(RealmError) -> [String] {
        try await grants(of: user).flatMap(\.groups).uniqued
    }

    /// Returns the attributes of a user in the authentication realm and in the authorization realms.
    public func attributes(of user: Username) async throws(RealmError) -> [UserAttribute] {
        try await grants(of: user).reduce(into: []) { all, grant in all.merge(grant.attributes) }
    }

    private func grants(of user: Username) async throws(RealmError) -> [Grant] {
        let own = try await authorization.grant(of: user, in: authentication)
        do throws(LoginFault) {
            return [own] + (try await authorization.grants(of: try authorization.name(of: user)))
        } catch {
            throw error.kind.isTemporary ? .temporary(error) : .invalidOperation(error.log)
        }
    }

    /// Returns the key of the authentication realm.
    public func accountKey(of user: Username) -> String { authentication.realm.accountKey(of: user) }
}

extension AggregateRealm: RefreshingRealm {
    /// Returns no users: the program checks the realms that this realm uses under their own names.
    ///
    /// It applies their changes to this realm's users; see ``names(of:in:)``.
    public func refresh() async -> ChangedUsers { .none }

    /// Returns whether the user may sign in, with a stamp of the user's states in all realms.
    ///
    /// A user whom the authentication realm no longer accepts is gone. If a realm can determine the state only later,
    /// such as a realm with an unreadable file, the state is unknown; an authorization realm without which logins go on
    /// counts as if it had no users in this time.
    public func state(of user: Username) async -> UserState {
        var fields = ["AggregateRealm"]
        var expiry: Int?
        switch await Self.state(of: user, in: authentication) {
        case .gone: return .gone
        case .unknown: return .unknown
        case .present(let stamp):
            fields.append(Self.text(stamp))
            expiry = stamp.expiry
        }
        guard let name = try? authorization.name(of: user) else { return .gone }
        for realm in authorization.realms {
            switch await Self.state(of: name, in: realm) {
            case .gone: fields.append("gone")
            case .present(let stamp): fields.append(Self.text(stamp))
            case .unknown:
                guard authorization.whenUnavailable == .continue else { return .unknown }
                fields.append("gone")
            }
        }
        return UserState(fields: fields, expiry: expiry)
    }

    /// Returns a user's state in another realm; a realm that knows no states has the same stamp for all users.
    private static func state(of user: Username, in bound: BoundRealm) async -> UserState {
        guard let realm = bound.realm as? any RefreshingRealm else { return .present(SecurityStamp([])) }
        let state = await realm.state(of: user)
        guard state == .unknown, !(realm is any ManagedRealm), bound.nested.isEmpty else { return state }
        return .present(SecurityStamp([]))
    }

    private static func text(_ stamp: SecurityStamp) -> String {
        stamp.bytes.map { String($0, radix: 16) }.joined(separator: ".")
    }
}

extension AggregateRealm: NamingRealm {
    package func names(of user: Username, in other: BoundRealm) -> [Username] {
        var names: [Username] = []
        if authentication.name.hasBytes(of: other.name) { names.append(user) }
        // A user without a name in the other realms cannot sign in, so no change there concerns the user.
        if authorization.realms.contains(where: { $0.name.hasBytes(of: other.name) }),
            let name = try? authorization.name(of: user)
        {
            names.append(name)
        }
        return names
    }
}

/// Authenticates a user in the authentication realm of an ``AggregateRealm``, then adds the groups and attributes of
/// the authorization realms.
///
/// The login phase of the authentication realm's stack is evaluated in the login phase, with this login's conversation,
/// and within the deadline of this module; its commit phase in the commit phase. The authorization realms are asked in
/// the commit phase too, so only for users whom the whole stack has accepted. The module has no options.
public struct AggregateLoginModule: LoginModule {
    private let realm: AggregateRealm

    /// Creates the module for a realm; it has no options.
    public init(realm: AggregateRealm, options: ModuleOptions) throws(BadModule) { self.realm = realm }

    /// Succeeds if the login phase of the authentication realm accepts the user; commits its name.
    public func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
        switch try await attempt.login(in: realm.authentication) {
        case .refused(let failure, log: let log?): throw LoginFault(failure, log: log)
        case .refused(let failure, log: nil): return .failed(failure)
        case .accepted(let name):
            _ = try realm.authorization.name(of: name)
            return attempt.commit(as: name)
        }
    }

    /// Commits the login in the authentication realm, and adds its groups, principals and attributes and those of the
    /// authorization realms.
    public func commit(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion {
        guard attempt.succeeded, let name = attempt.nestedName else {
            try await attempt.abortNested()
            return .ignored
        }
        // The authorization realms are asked first: if one is unavailable, nothing must have been stored.
        let mapped = try realm.authorization.name(of: name)
        let grants = try await realm.authorization.grants(of: mapped)
        let identity = try await attempt.commitNested()
        attempt.add(
            identity.groups.map(Principal.group) + identity.subject.principals.filter { $0.kind != .group },
            attributes: identity.attributes
        )
        if mapped != name { attempt.note("name in the authorization realms: \(mapped)") }
        for grant in grants {
            attempt.add(grant.groups.map(Principal.group), attributes: grant.attributes)
        }
        return .done
    }

    /// Aborts the login in the authentication realm.
    public func abort(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion {
        try await attempt.abortNested()
        return attempt.succeeded ? .done : .ignored
    }

    /// Logs the user out of the authentication realm.
    public func logout(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion {
        try await attempt.logoutNested()
        return .done
    }
}
