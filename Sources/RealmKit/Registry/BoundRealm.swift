// SPDX-License-Identifier: Apache-2.0
// Gatehouse

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
        [className, "settings"] + settings + ["groups"] + assignedGroups + ["mapping"] + groupMapping.rules + ["stack"]
            + stack.configurationTexts
    }

    /// Adds the assigned groups and the derived groups to the report of an accepted login.
    func addRealmGroups(to report: inout LoginReport) {
        guard !assignedGroups.isEmpty || !groupMapping.isEmpty, report.refusal == nil else { return }
        report.derivedGroups = assignedGroups
        guard !groupMapping.isEmpty, let groups = report.identity?.groups else { return }
        report.derivedGroups += groupMapping.derivedGroups(from: groups)
    }
}
