// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLKit
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
/// (`stop`), `authorization-deadline` (`12s`); see docs/realms/aggregate.md. It may be used from any thread. Source: the
/// aggregate realm and the principal transformers of WildFly Elytron.
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
    /// The realm that authenticates the users.
    let authentication: BoundRealm
    /// The realms that are asked for groups and attributes.
    let authorization: Authorization

    /// The rules of `name-mapping` that are never applied.
    public let warnings: [RealmWarning]

    /// The authentication type `aggregate`.
    public var authType: String { "aggregate" }

    /// Creates the realm.
    ///
    /// - Parameter properties: The properties of the schema. If the services contain a `RealmLog`, it receives a line
    ///   when a realm of `authorization` becomes unavailable or available again.
    /// - Throws: ``BadRealm`` if a rule of `name-mapping` is malformed, or `authorization-deadline` is out of bounds.
    public init(_ properties: RealmProperties) throws(BadRealm) {
        jaasContext = try properties.jaasContext
        authentication = try properties.realm("authentication")
        let deadline = try properties.duration("authorization-deadline")
        guard (.milliseconds(10) ... .seconds(300)).contains(deadline) else {
            throw BadRealm("is a time from 10ms to 5m", setting: "authorization-deadline")
        }
        let rules = try properties.list("name-mapping")
        let mapping = try Self.mapping(rules)
        warnings = mapping.unusedRules.map { rule in
            RealmWarning(
                "the rule \(rules[rule.number]) is never applied: \(rule.reason)",
                setting: "name-mapping",
                word: rule.number
            )
        }
        authorization = Authorization(
            realms: try properties.realms("authorization"),
            mapping: mapping,
            whenUnavailable: WhenUnavailable(rawValue: try properties.string("when-unavailable")) ?? .stop,
            deadline: deadline,
            clock: authentication.stack.clock,
            log: properties.services[RealmLog.self].map { log in
                let realmName = properties.realmName
                return RealmLog { level, message in log("realm \(realmName): \(message)", level) }
            }
        )
        authorization.warnAboutContinuing()
    }

    private static func mapping(_ rules: [String]) throws(BadRealm) -> NameMapping {
        do throws(BadValue) {
            return try NameMapping(rules)
        } catch {
            throw BadRealm(error.description, setting: "name-mapping")
        }
    }

    /// Returns the groups of a user in the authentication realm and in the authorization realms.
    public func groupNames(of user: Username) async throws(RealmError) -> [String] {
        try await grants(of: user).reduce(into: []) { all, grant in
            for group in grant.groups where !all.contains(where: { $0.utf8.elementsEqual(group.utf8) }) {
                all.append(group)
            }
        }
    }

    /// Returns the attributes of a user in the authentication realm and in the authorization realms.
    public func attributes(of user: Username) async throws(RealmError) -> [UserAttribute] {
        try await grants(of: user).reduce(into: []) { all, grant in all.merge(grant.attributes) }
    }

    private func grants(of user: Username) async throws(RealmError) -> [Grant] {
        let own = try await authorization.grant(of: user, in: authentication)
        do throws(LoginFault) {
            return [own] + (try await authorization.grants(of: user))
        } catch {
            throw error.kind.isTemporary ? .temporary(error) : .invalidOperation(error.log)
        }
    }

    /// Returns the key of the authentication realm.
    public func accountKey(of user: Username) -> String { authentication.realm.accountKey(of: user) }
}

extension AggregateRealm: RefreshingRealm {
    /// Returns no users.
    ///
    /// The realms that this realm uses are realms of the configuration too. The program checks them under their own
    /// names, and applies their changes to this realm's users; see ``names(of:in:)``.
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
        guard !authorization.realms.isEmpty else { return Self.state(fields, expiry: expiry) }
        let name: Username
        do throws(LoginFault) {
            name = try authorization.name(of: user)
        } catch {
            return .gone
        }
        for realm in authorization.realms {
            switch await Self.state(of: name, in: realm) {
            case .gone: fields.append("gone")
            case .present(let stamp): fields.append(Self.text(stamp))
            case .unknown:
                guard authorization.whenUnavailable == .continue else { return .unknown }
                fields.append("gone")
            }
        }
        return Self.state(fields, expiry: expiry)
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

    private static func state(_ fields: [String], expiry: Int?) -> UserState {
        do throws(OpenSSLError) {
            return .present(SecurityStamp(try Digest.sha256(fields: fields).bytes, expiry: expiry))
        } catch {
            return .unknown
        }
    }
}

extension AggregateRealm: NamingRealm {
    package func names(of user: Username, in other: BoundRealm) -> [Username] {
        var names: [Username] = []
        if authentication.name.utf8.elementsEqual(other.name.utf8) { names.append(user) }
        if authorization.realms.contains(where: { $0.name.utf8.elementsEqual(other.name.utf8) }) {
            do throws(LoginFault) {
                names.append(try authorization.name(of: user))
            } catch {
                // A user without a name in the other realms cannot sign in, so no change there concerns the user.
            }
        }
        return names
    }
}
