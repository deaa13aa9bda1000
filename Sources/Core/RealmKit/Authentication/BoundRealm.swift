// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// A realm of a configuration, with its name, its stack and its groups.
public struct BoundRealm: Sendable {
    /// The name in realms.conf.
    public let name: String
    /// The name of its class in realms.conf.
    public let className: String
    /// The realm.
    public let realm: any Realm
    /// The modules that authenticate its users.
    public let stack: LoginStack
    /// The groups of every user of the realm.
    public let assignedGroups: [String]
    /// The rules that derive groups from other groups.
    public let groupMapping: GroupMapping
    /// The realm's properties in the configuration, without secrets.
    package var settings: [String] = []
    /// The other realms that the realm's properties refer to, each once.
    package var nested: [BoundRealm] = [] {
        didSet { depth = 1 + (nested.map(\.depth).max() ?? 0) }
    }
    /// The length of the longest chain of realms that begins with this realm: 1 for a realm that uses no other.
    package private(set) var depth = 1
    /// The times for which accepted logins are cached; nil for no cache.
    package var cacheTimes: CacheTimes?

    /// Creates a realm of a configuration.
    public init(
        name: String,
        className: String,
        realm: any Realm,
        stack: LoginStack,
        assignedGroups: [String] = [],
        groupMapping: GroupMapping = .none
    ) {
        self.name = name
        self.className = className
        self.realm = realm
        self.stack = stack
        self.assignedGroups = assignedGroups
        self.groupMapping = groupMapping
    }

    /// The text of the realm's configuration, without its name and secrets; if it changes, users must sign in again.
    package var fingerprint: [String] {
        ownFingerprint + allNested.flatMap { ["nested", $0.name] + $0.nested.map(\.name) + $0.ownFingerprint }
    }

    /// Returns whether another realm, such as that of this name after a reload, has the same configuration but for secrets.
    package func hasSameConfiguration(as other: BoundRealm) -> Bool {
        fingerprint.elementsEqual(other.fingerprint) { $0.hasBytes(of: $1) }
    }

    private var ownFingerprint: [String] {
        [className, "settings"] + settings + ["groups"] + assignedGroups + ["mapping"] + groupMapping.rules + ["stack"]
            + stack.configurationTexts
    }

    /// True if the realm, or a realm that it uses, asks another system.
    package var dependsOnOtherSystems: Bool {
        ([self] + allNested).contains { type(of: $0.realm).dependsOnOtherSystems }
    }

    /// All realms that this realm uses, directly or through other realms, each once.
    package var allNested: [BoundRealm] {
        var all: [BoundRealm] = []
        addNested(to: &all)
        return all
    }

    private func addNested(to all: inout [BoundRealm]) {
        for realm in nested where !all.contains(where: { $0.name.hasBytes(of: realm.name) }) {
            realm.addNested(to: &all)
            all.append(realm)
        }
    }

    /// Returns the groups of a user without a login, each once: those of the realm, the assigned and the derived ones.
    package func groups(of user: Username) async throws(RealmError) -> [String] {
        let groups = try await realm.groupNames(of: user) + assignedGroups
        return (groups + groupMapping.derivedGroups(from: groups)).uniqued
    }

    /// Adds the assigned groups and the derived groups to the report of an accepted login.
    func addRealmGroups(to report: LoginReport) {
        guard !assignedGroups.isEmpty || !groupMapping.isEmpty, let identity = report.identity else { return }
        let groups = (identity.groups + assignedGroups).uniqued
        report.record.derivedGroups = assignedGroups + groupMapping.derivedGroups(from: groups)
    }
}

/// A realm that uses other realms of the configuration, and knows the names of its users there.
///
/// If a user of another realm changes, exactly the users of this realm with that name there must be authenticated again.
package protocol NamingRealm: RefreshingRealm {
    /// Returns the names under which this realm asks another realm, which it uses directly, for a user.
    func names(of user: Username, in other: BoundRealm) -> [Username]
}

extension BoundRealm {
    /// Returns whether this realm, or a realm that it uses, asks another realm for one of its changed users because of a user
    /// of this realm.
    package func isConcerned(_ user: Username, by names: Set<Username>, of other: String) -> Bool {
        if name.hasBytes(of: other) { return names.contains(user) }
        return nested.contains { used in
            guard used.name.hasBytes(of: other) || used.allNested.contains(where: { $0.name.hasBytes(of: other) })
            else { return false }
            // A realm that does not name its users may use any name.
            guard let naming = realm as? any NamingRealm else { return true }
            return naming.names(of: user, in: used).contains { used.isConcerned($0, by: names, of: other) }
        }
    }
}
