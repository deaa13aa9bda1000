// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Bytes
internal import ServerConnections
internal import Workers

extension DirectoryLogin {
    /// Returns groups of a user and all groups that contain them.
    func nested(
        _ direct: [DirectoryGroup],
        primary: DirectoryGroup?,
        user: UserEntry
    ) throws(ServerFault) -> [DirectoryGroup] {
        var seen: Set<UTF8Text> = []
        var all = direct.filter { seen.insert($0.key).inserted }
        guard try connection.abilities().isActiveDirectory else {
            let found = try containing(all)
            if cache.isDue(found) { renew(all) }
            return found.groups
        }
        // The server follows the groups; the primary group has no member that it could follow.
        for start in [user.name] + [primary?.name].compactMap(\.self) {
            let filter = "(member:\(GroupSettings.inChainRule):=\(LDAPText.filterValue(start.utf8)))"
            all += try searchGroups(filter).filter { seen.insert($0.key).inserted }
        }
        return all
    }

    /// Reads the groups that contain groups, each of which is given once, again, as far as they must be read again
    /// soon.
    func readAgain(_ groups: [DirectoryGroup]) throws(ServerFault) { _ = try containing(groups, isRenewal: true) }

    /// Returns groups and all groups that contain them, and the time at which the first of them is read again.
    private func containing(
        _ groups: [DirectoryGroup],
        isRenewal: Bool = false
    ) throws(ServerFault) -> GroupCache.Entry {
        let rules = settings.groups
        var seen = Set(groups.map(\.key))
        var all = groups
        var level = groups
        var depth = 0
        var end = UInt64.max
        while !level.isEmpty {
            guard depth < rules.maximumDepth else {
                let limit = "\(rules.maximumDepth) levels (maximum-group-depth)"
                throw ServerFault(.failed, "groups are nested deeper than \(limit)")
            }
            depth += 1
            var next: [DirectoryGroup] = []
            try parents(of: level, isRenewal: isRenewal) { parents throws(ServerFault) in
                end = min(end, parents.end)
                next += parents.groups.filter { seen.insert($0.key).inserted }
                guard all.count + next.count <= rules.maximumGroups else { throw tooManyGroups }
            }
            all += next
            level = next
        }
        return GroupCache.Entry(groups: all, end: end)
    }

    /// Passes the groups that contain each of some groups to a function, and the time until which they may be kept.
    private func parents(
        of groups: [DirectoryGroup],
        isRenewal: Bool,
        _ body: (GroupCache.Entry) throws(ServerFault) -> Void
    ) throws(ServerFault) {
        var missing: [DirectoryGroup] = []
        for group in groups {
            if let known = cache.entry(of: group.key), !isRenewal || !cache.isDue(known) {
                try body(known)
            } else {
                missing.append(group)
            }
        }
        guard !missing.isEmpty else { return }
        let searches = missing.map { parentSearch(of: $0) }
        let start = MonotonicTime.now
        var count = 0
        try connection.search(each: searches) { number, entries throws(ServerFault) in
            let parents = try parents(of: missing[number], search: searches[number], entries: entries)
            count += parents.count
            try body(GroupCache.Entry(groups: parents, end: cache.insert(parents, of: missing[number].key)))
        }
        let search = searches[0]
        let first = search.scope == .base ? "entry \(search.base) for \(search.filter)" : search.text
        let others = missing.count > 1 ? " and \(missing.count - 1) more of this kind" : ""
        steps.note(first + others, result: Self.count(count), since: start)
    }

    private static let memberOf = ["memberOf"]

    /// Returns the search for the groups that contain a group: for its entry, which names them, or by the filter.
    private func parentSearch(of group: DirectoryGroup) -> LDAPSearch {
        let rules = settings.groups
        guard rules.source != .memberOf, let filter = rules.nestedFilter else {
            return .entry(group.name, attributes: Self.memberOf)
        }
        return LDAPSearch(
            base: rules.base,
            filter: Self.text(filter, name: group.name),
            attributes: [rules.target],
            sizeLimit: LDAPConnection.pageSize
        )
    }

    private func parents(
        of child: DirectoryGroup,
        search: LDAPSearch,
        entries: [LDAPEntry]?
    ) throws(ServerFault) -> [DirectoryGroup] {
        if search.scope == .base {
            guard let entry = entries?.first else { throw Self.unreadableGroup(child.name) }
            return try groups(named: memberOf(entry))
        }
        // A server that returns fewer entries at once than are wanted returns them in pages.
        guard let entries else { return try searchGroups(search.filter) }
        guard entries.count <= settings.groups.maximumGroups else { throw tooManyGroups }
        return try entries.map(group)
    }
}
#endif
