// SPDX-License-Identifier: Apache-2.0

public import RealmKit

/// A realm of a team: its members share one passphrase and are in one group.
///
/// Properties: `members` and `passphrase` must be set. The defaults are `team` for `jaas-context` and `Team` for `group`.
public struct TeamRealm: Realm {
    /// `jaas-context`, `members`, `passphrase`, `group`.
    public static let properties: PropertySchema = [
        .jaasContext(default: "team"),
        .required("members", .list),
        .required("passphrase", .secret),
        .string("group", default: "Team"),
    ]

    /// The entry of login.conf that checks this realm's users.
    public let jaasContext: String

    private let members: Set<Username>
    private let passphrase: Secret
    private let group: String

    /// `Team`.
    public var authType: String { "Team" }

    /// Creates the realm.
    ///
    /// - Parameter properties: The properties set in realms.conf, checked against ``properties``.
    /// - Throws: ``RealmKit/BadRealm`` when the name of a member is not valid, or the passphrase is empty.
    public init(_ properties: RealmProperties) throws(BadRealm) {
        jaasContext = try properties.jaasContext
        group = try properties.string("group")
        passphrase = try properties.secret("passphrase")
        guard !passphrase.isEmpty else { throw BadRealm("is empty", setting: "passphrase") }
        var members: Set<Username> = []
        for name in try properties.list("members") {
            do throws(BadUsername) {
                members.insert(try Username(name))
            } catch {
                throw BadRealm("has a name that is not valid: \(error)", setting: "members")
            }
        }
        self.members = members
    }

    /// Returns the team's group for a member.
    public func groupNames(of user: Username) async throws(RealmError) -> [String] {
        guard let groups = groups(of: user) else { throw .noSuchUser(user) }
        return groups
    }

    /// Returns the groups of a member; nil for all other users.
    func groups(of user: Username) -> [String]? {
        members.contains(user) ? [group] : nil
    }

    /// Returns whether a password is the team's passphrase.
    func accepts(_ password: Secret) -> Bool {
        passphrase.isEqual(to: password)
    }
}

extension RealmKind {
    /// The team realm and its module, for the list of realms that an executable is linked with.
    public static let team = RealmKind(TeamRealm.self, modules: TeamLoginModule.self)
}
