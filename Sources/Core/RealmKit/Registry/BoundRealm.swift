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
    ///
    /// - Parameters:
    ///   - name: The name in realms.conf.
    ///   - className: The name of its class.
    ///   - realm: The realm.
    ///   - stack: The modules that authenticate its users.
    ///   - assignedGroups: The groups of every user of the realm.
    ///   - groupMapping: The rules that derive groups from other groups.
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

    /// The text of the realm's configuration, without its name and without secrets.
    ///
    /// If it changes, users who were accepted before must be authenticated again.
    package var fingerprint: [String] {
        ownFingerprint + allNested.flatMap { ["nested", $0.name] + $0.nested.map(\.name) + $0.ownFingerprint }
    }

    /// Returns whether another realm, such as the realm of this name after a reload, has the same configuration.
    ///
    /// Secrets are not compared.
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

    /// Returns the groups of a user without a login: those of the realm, the assigned groups and the derived groups.
    ///
    /// - Parameter user: The user's name.
    /// - Returns: The names of the groups, each once.
    /// - Throws: ``RealmError`` as from ``Realm/groupNames(of:)``.
    package func groups(of user: Username) async throws(RealmError) -> [String] {
        let groups = try await realm.groupNames(of: user) + assignedGroups
        var seen: Set<UTF8Text> = []
        return (groups + groupMapping.derivedGroups(from: groups)).filter { seen.insert(UTF8Text($0)).inserted }
    }

    /// Adds the assigned groups and the derived groups to the report of an accepted login.
    func addRealmGroups(to report: inout LoginReport) {
        guard !assignedGroups.isEmpty || !groupMapping.isEmpty, report.refusal == nil else { return }
        report.derivedGroups = assignedGroups
        guard !groupMapping.isEmpty, let groups = report.identity?.groups else { return }
        report.derivedGroups += groupMapping.derivedGroups(from: groups)
    }
}
