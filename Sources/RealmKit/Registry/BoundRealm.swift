// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A realm as a configuration names it, bound to its stack.
public struct BoundRealm: Sendable {
    /// The name in realms.conf.
    public let name: String
    /// The name of its class, as realms.conf spells it.
    public let className: String
    /// The realm.
    public let realm: any Realm
    /// The modules that check its users.
    public let stack: LoginStack
    /// Groups that every user of the realm belongs to.
    public let assignedGroups: [String]
    /// Groups that follow from other groups.
    public let groupMapping: GroupMapping
    /// The realm's properties, secrets left out.
    package var settings: [String] = []

    /// Binds a realm.
    ///
    /// - Parameters:
    ///   - name: The name in realms.conf.
    ///   - className: The name of its class.
    ///   - realm: The realm.
    ///   - stack: The modules that check its users.
    ///   - assignedGroups: Groups that every user of the realm belongs to.
    ///   - groupMapping: Groups that follow from other groups.
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

    /// What the configuration says of the realm, its name and secrets left out.
    ///
    /// Somebody who was accepted when it said something else has to be accepted anew.
    package var rulebook: [String] {
        [className, "settings"] + settings + ["groups"] + assignedGroups + ["mapping"] + groupMapping.rules + ["stack"]
            + stack.definition
    }

    /// Adds the groups that follow from being a user of this realm.
    func enrich(_ report: inout LoginReport) {
        guard !assignedGroups.isEmpty || !groupMapping.isEmpty, report.refusal == nil else { return }
        report.following = assignedGroups
        guard !groupMapping.isEmpty, let groups = report.identity?.groups else { return }
        report.following += groupMapping.following(from: groups)
    }
}
