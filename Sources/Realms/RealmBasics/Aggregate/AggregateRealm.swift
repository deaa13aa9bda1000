// SPDX-License-Identifier: Apache-2.0

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
