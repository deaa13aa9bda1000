// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Bytes
internal import ServerConnections
internal import Synchronization
internal import Workers

extension DirectoryLogin {
    /// Returns groups of a user and all groups that contain them.
    func nested(
        _ direct: [DirectoryGroup],
        primary: [DirectoryGroup],
        user: UserEntry
    ) throws(ServerFault) -> [DirectoryGroup] {
        let rules = settings.groups
        var seen: Set<UTF8Text> = []
        var all = direct.filter { seen.insert($0.key).inserted }
        guard try !connection.abilities().isActiveDirectory else {
            // The server follows the groups; the primary group has no member that it could follow.
            for start in [user.name] + primary.map(\.name) {
                let filter = "(member:\(GroupSettings.inChainRule):=\(LDAPText.filterValue(start.utf8)))"
                all += try searchGroups(filter).filter { seen.insert($0.key).inserted }
            }
            return all
        }
        var level = all
        var depth = 0
        while !level.isEmpty {
            guard depth < rules.maximumDepth else {
                let limit = "\(rules.maximumDepth) levels (maximum-group-depth)"
                throw ServerFault(.failed, "groups are nested deeper than \(limit)")
            }
            depth += 1
            let start = all.count
            try parents(of: level) { parents throws(ServerFault) in
                all += parents.filter { seen.insert($0.key).inserted }
                guard all.count <= rules.maximumGroups else { throw tooManyGroups }
            }
            level = Array(all[start...])
        }
        return all
    }

    /// Passes the groups that contain each of some groups to a function; those that are not kept are read.
    private func parents(
        of groups: [DirectoryGroup],
        _ body: ([DirectoryGroup]) throws(ServerFault) -> Void
    ) throws(ServerFault) {
        var missing: [(group: DirectoryGroup, search: LDAPSearch)] = []
        for group in groups {
            if let known = cache.groups(of: group.key) {
                try body(known)
            } else {
                missing.append((group, parentSearch(of: group)))
            }
        }
        guard let first = missing.first?.search else { return }
        let request = first.scope == .base ? "entry \(first.base) for \(first.filter)" : first.text
        let others = missing.count > 1 ? " and \(missing.count - 1) more of this kind" : ""
        func read() throws(ServerFault) -> Int {
            var count = 0
            for (group, search) in missing {
                let parents = try parents(search)
                cache.insert(parents, of: group.key)
                count += parents.count
                try body(parents)
            }
            return count
        }
        _ = try measure(request + others, try read()) { Self.count($0) }
    }

    /// Returns the search for the groups that contain a group: for its entry, which names them, or by the filter.
    private func parentSearch(of group: DirectoryGroup) -> LDAPSearch {
        let rules = settings.groups
        guard rules.source != .memberOf, let filter = rules.nestedFilter else {
            return .entry(group.name, attributes: ["memberOf"])
        }
        return LDAPSearch(base: rules.base, filter: Self.text(filter, name: group.name), attributes: [rules.target])
    }

    private func parents(_ search: LDAPSearch) throws(ServerFault) -> [DirectoryGroup] {
        guard search.scope == .base else { return try all(search) { entry throws(ServerFault) in [try group(entry)] } }
        guard let entry = try connection.search(search).first else { throw Self.unreadableGroup(search.base) }
        return try groups(named: memberOf(entry))
    }
}

/// The groups that contain a group, kept for a limited time.
///
/// The groups of users are not kept: they are read at each login.
final class GroupCache: Sendable {
    private static let maximumGroups = 100_000
    private static let maximumNames = 50_000

    private let time: UInt64
    private let now: @Sendable () -> UInt64
    /// The groups that contain a group, and the time at which they are read again, of `MonotonicTime`.
    private let entries = Mutex<[UTF8Text: (groups: [DirectoryGroup], end: UInt64)]>([:])
    private let keys = Mutex<[UTF8Text: UTF8Text]>([:])

    /// Creates a cache that keeps values for a time; zero to keep none.
    init(_ time: Duration, now: @escaping @Sendable () -> UInt64 = { MonotonicTime.now }) {
        self.time = time.nanoseconds
        self.now = now
    }

    /// Returns the canonical form of a distinguished name; for another text, one that no name has.
    ///
    /// Reading 200 names takes longer than everything else at a login, so the forms are kept.
    func key(of name: String) -> UTF8Text {
        let text = UTF8Text(name)
        if let known = keys.withLock({ $0[text] }) { return known }
        let key = UTF8Text(DistinguishedName(name)?.key ?? LDAPText.nameValue(name.utf8))
        guard name.utf8.count <= 512 else { return key }
        keys.withLock { keys in
            if keys.count >= Self.maximumNames { keys = [:] }
            keys[text] = key
        }
        return key
    }

    /// Returns the groups that contain a group; nil if they are not known, or not any more.
    func groups(of key: UTF8Text) -> [DirectoryGroup]? {
        let now = now()
        return entries.withLock { entries in
            guard let entry = entries[key] else { return nil }
            if entry.end > now { return entry.groups }
            entries[key] = nil
            return nil
        }
    }

    /// Returns the groups of a key, which are read if they are not known.
    func groups(
        of key: UTF8Text,
        _ read: () throws(ServerFault) -> [DirectoryGroup]
    ) throws(ServerFault) -> [DirectoryGroup] {
        if let known = groups(of: key) { return known }
        let found = try read()
        insert(found, of: key)
        return found
    }

    /// Keeps the groups that contain a group, which have just been read.
    func insert(_ groups: [DirectoryGroup], of key: UTF8Text) {
        guard time > 0 else { return }
        let end = now() &+ time
        entries.withLock { entries in
            if entries.count >= Self.maximumGroups { entries = [:] }
            entries[key] = (groups, end)
        }
    }
}
#endif
