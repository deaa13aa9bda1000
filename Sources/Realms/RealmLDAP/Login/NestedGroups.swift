// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Bytes
internal import RealmKit
internal import ServerConnections
internal import Synchronization
internal import Workers

extension GroupSearch {
    /// Returns groups of a user and all groups that contain them.
    func nested(
        _ direct: [DirectoryGroup],
        primary: DirectoryGroup?,
        user: UserEntry
    ) throws(ServerFault) -> [DirectoryGroup] {
        var seen: Set<UTF8Text> = []
        var all = direct.filter { seen.insert($0.key).inserted }
        if try connection.abilities(call).isActiveDirectory {
            // The server follows the groups; the primary group has no member that it could follow.
            for start in [user.name] + [primary?.name].compactMap(\.self) {
                let filter = "(member:\(GroupSettings.inChainRule):=\(LDAPText.filterValue(start.utf8)))"
                all += try search(filter).filter { seen.insert($0.key).inserted }
            }
            return all
        }
        let set = Self.key(of: all)
        if let known = cache.all(of: set) {
            if cache.isDue(known) { renew(all) }
            return known.groups
        }
        let found = try containing(all)
        cache.insert(all: found.groups, of: set, until: found.end)
        if cache.isDue(found) { renew(all) }
        return found.groups
    }

    /// Reads the groups that contain groups, each of which is given once, again, as far as they must be read again
    /// soon.
    func readAgain(_ groups: [DirectoryGroup]) throws(ServerFault) {
        let found = try containing(groups, isRenewal: true)
        cache.insert(all: found.groups, of: Self.key(of: groups), until: found.end)
    }

    private static func key(of groups: [DirectoryGroup]) -> UTF8Text {
        UTF8Text(groups.map(\.key.string).joined(separator: "\n"))
    }

    /// Returns groups and all groups that contain them, and the time until which they may be kept.
    private func containing(
        _ groups: [DirectoryGroup],
        isRenewal: Bool = false
    ) throws(ServerFault) -> GroupCache.Entry {
        var seen = Set(groups.map(\.key))
        var all = groups
        var level = groups
        var depth = 0
        var end = UInt64.max
        while !level.isEmpty {
            guard depth < settings.maximumDepth else {
                let limit = "\(settings.maximumDepth) levels (maximum-group-depth)"
                throw ServerFault(.failed, "groups are nested deeper than \(limit)")
            }
            depth += 1
            var next: [DirectoryGroup] = []
            try parents(of: level, isRenewal: isRenewal) { parents throws(ServerFault) in
                end = min(end, parents.end)
                next += parents.groups.filter { seen.insert($0.key).inserted }
                guard all.count + next.count <= settings.maximumGroups else { throw tooMany }
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
        try connection.search(each: searches, call: call) { number, entries throws(ServerFault) in
            let parents = try parents(of: missing[number], search: searches[number], entries: entries)
            count += parents.count
            try body(GroupCache.Entry(groups: parents, end: cache.insert(parents, of: missing[number].key)))
        }
        let search = searches[0]
        let first = search.scope == .base ? "entry \(search.base) for \(search.filter)" : search.text
        let others = missing.count > 1 ? " and \(missing.count - 1) more of this kind" : ""
        steps.note(first + others, result: Self.count(count), since: start)
    }

    /// Returns the search for the groups that contain a group: for its entry, which names them, or by the filter.
    private func parentSearch(of group: DirectoryGroup) -> LDAPSearch {
        guard settings.source != .memberOf, let filter = settings.nestedFilter else {
            return .entry(group.name, attributes: Self.memberOf)
        }
        return LDAPSearch(
            base: settings.base,
            filter: Self.text(filter, name: group.name),
            attributes: settings.attributes,
            sizeLimit: LDAPConnection.pageSize
        )
    }

    private static let memberOf = LDAPAttributeList(["memberOf"])

    private func parents(
        of child: DirectoryGroup,
        search: LDAPSearch,
        entries: [LDAPEntry]?
    ) throws(ServerFault) -> [DirectoryGroup] {
        if search.scope == .base {
            guard let entry = entries?.first else { throw Self.unreadable(child.name) }
            return try groups(named: memberOf(entry))
        }
        // A server that returns fewer entries at once than are wanted returns them in pages.
        guard let entries else { return try self.search(search.filter) }
        guard entries.count <= settings.maximumGroups else { throw tooMany }
        return try entries.map(group)
    }
}

/// A group by its distinguished name.
struct DirectoryGroup: Sendable, Hashable {
    let name: String
    /// A key that is equal for equal names.
    let key: UTF8Text
    /// The name of the group for rules; nil if it has none that can be used.
    let group: String?
}

/// The groups that contain a group, kept for a limited time.
///
/// The groups of users are not kept: they are read at each login.
final class GroupCache: Sendable {
    /// Groups and the time at which they are read again, of `MonotonicTime`.
    struct Entry: Sendable {
        let groups: [DirectoryGroup]
        let end: UInt64
    }

    /// Users are often in the same sets of groups.
    private struct Sets {
        var entries: [UTF8Text: Entry] = [:]
        var groupCount = 0
    }

    private struct Keys {
        var table: [UTF8Text: UTF8Text] = [:]
        /// In bytes.
        var size = 0
    }

    private static let maximumEntries = 100_000
    /// The maximum size of the keys of names, in bytes.
    private static let maximumKeySize = 32 << 20

    private let time: UInt64
    private let now: @Sendable () -> UInt64
    /// The time before which no renewal begins; the last of all times while one runs.
    private let nextRenewal = Mutex(UInt64.zero)
    private let entries = Mutex<[UTF8Text: Entry]>([:])
    private let sets = Mutex(Sets())
    private let keys = Mutex(Keys())

    /// Creates a cache that keeps values for a time; zero to keep none.
    init(_ time: Duration, now: @escaping @Sendable () -> UInt64 = { MonotonicTime.now }) {
        self.time = time.nanoseconds
        self.now = now
    }

    // MARK: Renewal

    /// Returns whether an entry is in the second half of its time, in which it is read again ahead of need.
    func isDue(_ entry: Entry) -> Bool { time > 0 && entry.end < now() &+ time / 2 }

    /// Returns whether the caller may renew entries now; it must call ``endRenewal(hasFailed:)`` at the end.
    func beginRenewal() -> Bool {
        let now = now()
        return nextRenewal.withLock { next in
            guard next <= now else { return false }
            next = .max
            return true
        }
    }

    /// Allows the next renewal; after a failure only later, because each login would begin another one.
    func endRenewal(hasFailed: Bool) {
        let next = hasFailed ? now() &+ time / 4 : 0
        nextRenewal.withLock { $0 = next }
    }

    // MARK: Keys

    /// Returns the canonical form of a distinguished name; for another text, one that no name has.
    ///
    /// Reading a name takes much longer than finding its key here, which depends on nothing but the name.
    func key(of name: String) -> UTF8Text {
        let text = UTF8Text(name)
        if let known = keys.withLock({ $0.table[text] }) { return known }
        let key = UTF8Text(DistinguishedName(name)?.key ?? LDAPText.nameValue(name.utf8))
        // With the memory that a table needs beside the texts.
        let size = name.utf8.count + key.string.utf8.count + 128
        guard size <= Self.maximumKeySize else { return key }
        keys.withLock { keys in
            if keys.size + size > Self.maximumKeySize { keys = Keys() }
            if keys.table.updateValue(key, forKey: text) == nil { keys.size += size }
        }
        return key
    }

    // MARK: Entries

    /// Returns the groups that contain a group; nil if they are not known, or not any more.
    func groups(of key: UTF8Text) -> [DirectoryGroup]? { entry(of: key)?.groups }

    func entry(of key: UTF8Text) -> Entry? {
        guard time > 0 else { return nil }
        let now = now()
        return entries.withLock { entries in
            guard let entry = entries[key] else { return nil }
            guard entry.end > now else {
                entries[key] = nil
                return nil
            }
            return entry
        }
    }

    /// Keeps the groups that contain a group, which have just been read, and returns the time at which they are read
    /// again.
    @discardableResult
    func insert(_ groups: [DirectoryGroup], of key: UTF8Text) -> UInt64 {
        let end = now() &+ time
        guard time > 0 else { return end }
        entries.withLock { entries in
            if entries.count >= Self.maximumEntries { entries = [:] }
            entries[key] = Entry(groups: groups, end: end)
        }
        return end
    }

    /// Returns a set of groups with all groups that contain them; nil if they are not known, or not any more.
    func all(of set: UTF8Text) -> Entry? {
        guard time > 0 else { return nil }
        let now = now()
        return sets.withLock { sets in
            guard let entry = sets.entries[set], entry.end > now else { return nil }
            return entry
        }
    }

    /// Keeps a set of groups with all groups that contain them, until the first of their parts is read again.
    func insert(all groups: [DirectoryGroup], of set: UTF8Text, until end: UInt64) {
        guard time > 0, groups.count <= Self.maximumEntries else { return }
        sets.withLock { sets in
            sets.groupCount -= sets.entries.removeValue(forKey: set)?.groups.count ?? 0
            if sets.groupCount + groups.count > Self.maximumEntries { sets = Sets() }
            sets.entries[set] = Entry(groups: groups, end: end)
            sets.groupCount += groups.count
        }
    }
}
#endif
