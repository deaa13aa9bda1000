// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import RealmKit
internal import ServerConnections

/// The source of the groups of a user, and the search for them.
struct GroupSettings: Sendable {
    enum Source: String, Sendable {
        /// Groups are entries that name their members.
        case search
        /// The entry of a user names the groups.
        case memberOf = "member-of"
        case none
    }

    let source: Source
    let base: String
    let baseName: DistinguishedName
    /// The filter for the groups of a user.
    let filter: FilterTemplate
    /// The filter for the groups that contain a group; nil if groups in groups do not count.
    let nestedFilter: FilterTemplate?
    /// The attribute of a group with its name, in lower case.
    let target: String
    /// True if the name of a group is its distinguished name, in the canonical form.
    let usesDistinguishedNames: Bool
    let maximumDepth: Int
    let maximumGroups: Int
    let cacheTime: Duration
    /// True if the primary group of Active Directory counts.
    let hasPrimaryGroup: Bool
    /// The filter and the attribute of groups whose members the server computes; nil for none.
    let dynamic: (filter: FilterTemplate, target: String)?
    var isNested: Bool { nestedFilter != nil }

    /// The rule of Active Directory by which a filter finds members of members.
    static let inChainRule = "1.2.840.113556.1.4.1941"

    init(_ properties: RealmProperties, base: String, isActiveDirectory: Bool) throws(BadRealm) {
        let standard: Source = isActiveDirectory ? .memberOf : .search
        source = try properties.optional("group-source").flatMap(Source.init) ?? standard
        let isNested = try properties.boolean("nested-groups")
        let hasNestedFilter = properties.has("nested-group-search-filter")
        if source != .search, properties.has("group-search-filter") {
            // It finds the groups of groups, too.
            guard source == .memberOf, isNested, !hasNestedFilter else {
                throw BadRealm(
                    "has no effect with group-source \(source.rawValue); remove it, or set group-source search",
                    setting: "group-search-filter"
                )
            }
        }
        self.base = try properties.optional("group-base-dn") ?? base
        guard let baseName = DistinguishedName(self.base) else {
            throw BadRealm("is no distinguished name: \(self.base)", setting: "group-base-dn")
        }
        self.baseName = baseName
        func filter(_ setting: String, standard: String = "") throws(BadRealm) -> FilterTemplate {
            let text = try properties.optional(setting) ?? standard
            return try properties.reading(setting) { () throws(BadValue) in
                try FilterTemplate(text, allowing: [.distinguishedName, .name, .typedName])
            }
        }
        let standardFilter = isActiveDirectory ? "(&(objectCategory=group)(member=%d))" : "uniquemember=%d"
        self.filter = try filter("group-search-filter", standard: standardFilter)
        guard isNested || !hasNestedFilter else {
            throw BadRealm("needs nested-groups true", setting: "nested-group-search-filter")
        }
        guard !isNested || hasNestedFilter || self.filter.usesOnlyDistinguishedName else {
            throw BadRealm(
                "must be set with nested-groups, because group-search-filter has %s or %n",
                setting: "nested-group-search-filter"
            )
        }
        let nested = hasNestedFilter ? try filter("nested-group-search-filter") : self.filter
        nestedFilter = isNested ? nested : nil
        guard nestedFilter?.usesOnlyDistinguishedName != false else {
            throw BadRealm("takes %d only: a group has no user name", setting: "nested-group-search-filter")
        }
        target = try LDAPSettings.attribute(properties, "group-target")
        usesDistinguishedNames = try properties.string("group-names") == "dn"
        maximumDepth = try properties.integer("maximum-group-depth")
        maximumGroups = try properties.integer("maximum-groups")
        cacheTime = try properties.duration("group-cache-time")
        guard cacheTime <= .seconds(3600) else { throw BadRealm("is at most 1h", setting: "group-cache-time") }
        hasPrimaryGroup = properties.has("primary-group") ? try properties.boolean("primary-group") : isActiveDirectory
        dynamic =
            properties.has("dynamic-group-search-filter")
            ? (
                try filter("dynamic-group-search-filter"),
                try LDAPSettings.attribute(properties, "dynamic-group-target")
            ) : nil
    }

    /// The attributes of a user's entry that the groups need, in lower case.
    var userAttributes: [String] {
        (source == .memberOf ? ["memberof"] : [])
            + (hasPrimaryGroup && source != .none ? ["primarygroupid", "objectsid"] : [])
    }
}
#endif
