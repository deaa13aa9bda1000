// SPDX-License-Identifier: Apache-2.0
// Gatehouse

#if LDAP
internal import Bytes
internal import RealmKit
internal import ServerConnections
internal import WorkerThreads

/// Finds the groups of a user on one connection.
struct GroupSearch {
    let connection: LDAPConnection
    let call: ServerCall
    let cache: GroupCache
    let steps: DirectorySteps

    private var settings: GroupSettings { connection.settings.groups }

    /// Returns the names of the groups of a user, each once.
    ///
    /// - Throws: ``ServerFault`` also if the groups are more, or nested deeper, than the settings allow: a group that
    ///   denies access must not be missing.
    func groups(of user: UserEntry, typed: TypedName) throws(ServerFault) -> [String] {
        guard settings.source != .none || settings.dynamic != nil else { return [] }
        let typed = user.spelling ?? typed
        var found: [DirectoryGroup] = []
        switch settings.source {
        case .none: break
        case .memberOf: found = try groups(named: memberOf(user.entry))
        case .search: found = try search(settings.filter, typed: typed, name: user.name)
        }
        let hasPrimary = settings.hasPrimaryGroup && settings.source != .none
        let primary = hasPrimary ? try primaryGroup(of: user.entry) : nil
        if let primary { found.append(primary) }
        if let dynamic = settings.dynamic { found += try dynamicGroups(dynamic, user: user, typed: typed) }
        if settings.isNested { found = try nested(found, primary: primary, user: user) }
        let unusable = found.count { $0.group == nil }
        if unusable > 0 {
            steps.note("\(steps.server): groups that are left out, because their names cannot be used: \(unusable)")
        }
        var seen: Set<UTF8Text> = []
        return found.compactMap(\.group).filter { seen.insert(UTF8Text($0)).inserted }
    }

    // MARK: Direct groups

    /// Returns the values of `memberOf`, which Active Directory returns in several ranges.
    private func memberOf(_ entry: LDAPEntry) throws(ServerFault) -> [String] {
        var names = UserEntry.texts(entry.values(of: "memberof"))
        var next = try Self.nextRange(of: "memberof", in: entry, names: &names)
        while let start = next {
            let search = LDAPSearch.entry(entry.name, attributes: LDAPAttributeList(["memberOf;range=\(start)-*"]))
            guard let more = try connection.search(search, call: call).first else {
                throw ServerFault(.failed, "\(entry.name): a part of memberOf cannot be read")
            }
            let before = names.count
            next = try Self.nextRange(of: "memberof", in: more, names: &names)
            guard names.count > before, names.count <= settings.maximumGroups else {
                throw tooMany
            }
        }
        return names
    }

    /// Appends the values of a range such as `memberOf;range=0-1499`, and returns the start of the next one.
    ///
    /// - Throws: ``ServerFault`` if the end of the range is neither a number nor `*`, which stands for the last value.
    private static func nextRange(
        of attribute: String,
        in entry: LDAPEntry,
        names: inout [String]
    ) throws(ServerFault) -> Int? {
        let start = "\(attribute);range="
        guard let range = entry.attributes.first(where: { $0.name.utf8.starts(with: start.utf8) }) else { return nil }
        names += UserEntry.texts(range.values)
        let end = range.name.utf8.drop { $0 != UInt8(ascii: "-") }.dropFirst()
        if end.elementsEqual("*".utf8) { return nil }
        guard let last = UInt32(String(decoding: end, as: UTF8.self)) else {
            throw ServerFault(.failed, "\(entry.name): the server has sent \(LDAPText.printable(range.name))")
        }
        return Int(last) + 1
    }

    /// Returns the groups of a filter.
    private func search(
        _ filter: FilterTemplate,
        typed: TypedName?,
        name: String
    ) throws(ServerFault) -> [DirectoryGroup] {
        try search(Self.text(filter, typed: typed, name: name))
    }

    private static func text(_ filter: FilterTemplate, typed: TypedName?, name: String) -> String {
        filter.filter { value in
            switch value {
            case .name: typed?.user ?? ""
            case .typedName: typed?.full ?? ""
            case .distinguishedName: name
            }
        }
    }

    private func search(_ filter: String, base: String? = nil) throws(ServerFault) -> [DirectoryGroup] {
        let search = LDAPSearch(
            base: base ?? settings.base,
            filter: filter,
            attributes: settings.attributes
        )
        var found: [DirectoryGroup] = []
        try steps.measure("search below \(search.base) for \(filter)") { () throws(ServerFault) in
            try connection.searchAll(search, call: call) { entries throws(ServerFault) in
                found += entries.map(group)
                guard found.count <= settings.maximumGroups else { throw tooMany }
            }
            return "\(found.count) groups"
        }
        return found
    }

    private func group(_ entry: LDAPEntry) -> DirectoryGroup {
        let value = UserEntry.texts(entry.values(of: settings.target)).first
        // Only nested groups are compared; the key of a name takes longer than the rest.
        let key = settings.isNested ? DistinguishedName(entry.name)?.key : nil
        return DirectoryGroup(
            name: entry.name,
            key: UTF8Text(key ?? entry.name),
            group: Self.usable(settings.usesDistinguishedNames ? entry.name : value)
        )
    }

    /// Returns the groups with the given distinguished names that are below the base for groups.
    ///
    /// - Throws: ``ServerFault`` also if the entry of a group must be read and is missing, because the group may deny
    ///   access.
    private func groups(named names: [String]) throws(ServerFault) -> [DirectoryGroup] {
        guard names.count <= settings.maximumGroups else { throw tooMany }
        var found: [[DirectoryGroup]] = []
        var missing: [(index: Int, key: UTF8Text, search: LDAPSearch)] = []
        for text in names {
            guard let name = DistinguishedName(text), let base = settings.baseName, name.isWithin(base) else {
                continue
            }
            if settings.usesDistinguishedNames || name.value(of: settings.target) != nil {
                let value = name.value(of: settings.target).map { UserEntry.texts([$0]) }?.first
                let group = Self.usable(settings.usesDistinguishedNames ? text : value)
                found.append([DirectoryGroup(name: text, key: UTF8Text(name.key), group: group)])
                continue
            }
            let key = UTF8Text("name:\(name.key)")
            let known = cache.groups(of: key)
            if known == nil { missing.append((found.count, key, .entry(text, attributes: settings.attributes))) }
            found.append(known ?? [])
        }
        try connection.search(each: missing.map(\.search), call: call) { number, entries throws(ServerFault) in
            let (index, key, search) = missing[number]
            guard let entry = entries?.first else { throw Self.unreadable(search.base) }
            found[index] = [group(entry)]
            cache.insert(found[index], of: key)
        }
        return found.flatMap(\.self)
    }

    private static func usable(_ name: String?) -> String? { name.flatMap { GroupName.isUsable($0) ? $0 : nil } }

    private static func unreadable(_ name: String) -> ServerFault {
        ServerFault(.failed, "\(name): the entry of the group cannot be read")
    }

    private var tooMany: ServerFault {
        ServerFault(.failed, "the user has more than \(settings.maximumGroups) groups (maximum-groups)")
    }

    // MARK: Other kinds of groups

    /// Returns the primary group of Active Directory, which is in no list of members.
    private func primaryGroup(of entry: LDAPEntry) throws(ServerFault) -> DirectoryGroup? {
        guard let own = entry.values(of: "objectsid").first,
            let number = UserEntry.texts(entry.values(of: "primarygroupid")).first.flatMap(UInt32.init),
            let identifier = SecurityIdentifier.group(number, inDomainOf: own)
        else { return nil }
        let filter = "(objectSid=\(LDAPText.escaped(identifier)))"
        let key = UTF8Text(filter)
        if let known = cache.groups(of: key) { return known.first }
        let found = try search(filter, base: connection.settings.base)
        cache.insert(found, of: key)
        return found.first
    }

    /// Returns the groups whose names the server computes, as in the properties of GlassFish.
    private func dynamicGroups(
        _ dynamic: (filter: FilterTemplate, target: String),
        user: UserEntry,
        typed: TypedName
    ) throws(ServerFault) -> [DirectoryGroup] {
        let filter = Self.text(dynamic.filter, typed: typed, name: user.name)
        let search = LDAPSearch(
            base: settings.base,
            filter: filter,
            attributes: LDAPAttributeList([dynamic.target])
        )
        var names: [String] = []
        try steps.measure("search below \(search.base) for \(filter)") { () throws(ServerFault) in
            try connection.searchAll(search, call: call) { entries throws(ServerFault) in
                for entry in entries { names += UserEntry.texts(entry.values(of: dynamic.target)) }
                guard names.count <= settings.maximumGroups else { throw tooMany }
            }
            return "\(names.count) groups"
        }
        return try groups(named: names)
    }

    // MARK: Nested groups

    /// Returns groups and all groups that contain them.
    private func nested(
        _ direct: [DirectoryGroup],
        primary: DirectoryGroup?,
        user: UserEntry
    ) throws(ServerFault) -> [DirectoryGroup] {
        var seen: Set<UTF8Text> = []
        var all = direct.filter { seen.insert($0.key).inserted }
        if try connection.abilities(call).isActiveDirectory {
            // The server follows the groups; the primary group has no member that it could follow.
            for start in [user.name] + [primary?.name].compactMap(\.self) {
                let filter = "(member:\(GroupSettings.inChainRule):=\(LDAPText.escaped(start.utf8)))"
                all += try search(filter).filter { seen.insert($0.key).inserted }
            }
            return all
        }
        let set = UTF8Text(all.map(\.key.string).joined(separator: "\n"))
        if let known = cache.all(of: set) { return known }
        var level = all
        var depth = 0
        var end = UInt64.max
        while !level.isEmpty {
            guard depth < settings.maximumDepth else {
                throw ServerFault(
                    .failed,
                    "groups are nested deeper than \(settings.maximumDepth) levels (maximum-group-depth)"
                )
            }
            depth += 1
            var next: [DirectoryGroup] = []
            try parents(of: level) { parents throws(ServerFault) in
                end = min(end, parents.end)
                next += parents.groups.filter { seen.insert($0.key).inserted }
                guard all.count + next.count <= settings.maximumGroups else { throw tooMany }
            }
            all += next
            level = next
        }
        cache.insert(all: all, of: set, until: end)
        return all
    }

    /// Passes the groups that contain each of some groups to a function, and the time until which they may be kept.
    private func parents(
        of groups: [DirectoryGroup],
        _ body: (GroupCache.Entry) throws(ServerFault) -> Void
    ) throws(ServerFault) {
        var missing: [DirectoryGroup] = []
        for group in groups {
            if let known = cache.entry(of: group.key) { try body(known) } else { missing.append(group) }
        }
        let searches = missing.map { parentSearch(of: $0) }
        let start = MonotonicTime.now
        try connection.search(each: searches, call: call) { number, entries throws(ServerFault) in
            let parents = try parents(of: missing[number], search: searches[number], entries: entries, start: start)
            try body(GroupCache.Entry(groups: parents, end: cache.insert(parents, of: missing[number].key)))
        }
    }

    /// Returns the search for the groups that contain a group: for its entry, which names them, or by the filter.
    private func parentSearch(of group: DirectoryGroup) -> LDAPSearch {
        guard settings.source != .memberOf, let filter = settings.nestedFilter else {
            return .entry(group.name, attributes: Self.memberOf)
        }
        return LDAPSearch(
            base: settings.base,
            filter: Self.text(filter, typed: nil, name: group.name),
            attributes: settings.attributes,
            sizeLimit: LDAPConnection.pageSize
        )
    }

    private static let memberOf = LDAPAttributeList(["memberOf"])

    /// Returns the groups that contain a group.
    private func parents(
        of child: DirectoryGroup,
        search: LDAPSearch,
        entries: [LDAPEntry]?,
        start: UInt64
    ) throws(ServerFault) -> [DirectoryGroup] {
        if search.scope == .base {
            guard let entry = entries?.first else { throw Self.unreadable(child.name) }
            return try groups(named: memberOf(entry))
        }
        // A server that returns fewer entries at once than are wanted returns them in pages.
        guard let entries else { return try self.search(search.filter) }
        guard entries.count <= settings.maximumGroups else { throw tooMany }
        steps.note("search below \(search.base) for \(search.filter)", result: "\(entries.count) groups", since: start)
        return entries.map(group)
    }
}

/// The security identifiers of Windows: a revision, the number of parts, an authority, and the parts.
enum SecurityIdentifier {
    /// Returns the identifier of a group in the domain of a user; nil if that of the user is malformed.
    ///
    /// - Parameters:
    ///   - number: The last part of the identifier.
    ///   - user: The identifier of the user.
    /// - Returns: The identifier.
    static func group(_ number: UInt32, inDomainOf user: [UInt8]) -> [UInt8]? {
        guard user.count >= 12, user.count == 8 + 4 * Int(user[1]) else { return nil }
        return Array(user.dropLast(4)) + (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * UInt32($0))) }
    }
}
#endif
