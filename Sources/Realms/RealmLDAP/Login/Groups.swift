// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Bytes
internal import RealmKit
internal import ServerConnections

/// A group by its distinguished name.
struct DirectoryGroup: Sendable, Hashable {
    let name: String
    /// A key that is equal for equal names.
    let key: UTF8Text
    /// The name of the group for rules; nil if it has none that can be used.
    let group: String?
}

extension DirectoryLogin {
    private var rules: GroupSettings { settings.groups }

    /// Returns the names of the groups of a user, each once.
    ///
    /// Throws if the groups are more, or nested deeper, than the settings allow: a group that denies access must not be
    /// missing. For this reason every function here throws if a part of the groups cannot be read.
    func groups(of user: UserEntry) throws(ServerFault) -> [String] {
        var found: [DirectoryGroup] = []
        switch rules.source {
        case .none: break
        case .memberOf: found = try groups(named: memberOf(user.entry))
        case .search: found = try searchGroups(Self.text(rules.filter, account: user.account, name: user.name))
        }
        let hasPrimary = rules.hasPrimaryGroup && rules.source != .none
        let primary = hasPrimary ? try primaryGroup(of: user.entry) : nil
        if let primary { found.append(primary) }
        if let dynamic = rules.dynamic { found += try dynamicGroups(dynamic, user: user) }
        if rules.isNested, rules.source != .none || rules.dynamic != nil {
            found = try nested(found, primary: primary, user: user)
        }
        let unusable = found.filter { $0.group == nil }
        if let first = unusable.first {
            steps.note(
                "groups that are left out, because they have no usable name in \(rules.target) (group-target): "
                    + "\(unusable.count), such as \(LDAPText.printable(first.name))"
            )
        }
        var seen: Set<UTF8Text> = []
        return found.compactMap(\.group).filter { seen.insert(UTF8Text($0)).inserted }
    }

    /// Returns the filter for the groups of a user, by the accepted name and never the typed one, or of a group, which
    /// has no user name.
    static func text(_ filter: FilterTemplate, account: String = "", name: String) -> String {
        filter.filter { $0 == .distinguishedName ? name : account }
    }

    func searchGroups(_ filter: String, base: String? = nil) throws(ServerFault) -> [DirectoryGroup] {
        let search = LDAPSearch(base: base ?? rules.base, filter: filter, attributes: [rules.target])
        return try steps.measure(
            search.text,
            try all(search) { entry throws(ServerFault) in [try group(entry)] }
        ) { Self.count($0.count) }
    }

    /// Returns what a function reads in the entries that a search finds, if that is not too much.
    private func all<Value>(
        _ search: LDAPSearch,
        _ read: (LDAPEntry) throws(ServerFault) -> [Value]
    ) throws(ServerFault) -> [Value] {
        var found: [Value] = []
        try connection.searchAll(search) { entries throws(ServerFault) in
            for entry in entries { found += try read(entry) }
            guard found.count <= rules.maximumGroups else { throw tooManyGroups }
        }
        return found
    }

    // MARK: The groups in an entry

    /// Returns the values of `memberOf`, which Active Directory returns in several ranges.
    func memberOf(_ entry: LDAPEntry) throws(ServerFault) -> [String] {
        var names = try texts("memberof", of: entry)
        var next = try nextRange(of: "memberof", in: entry, names: &names)
        while let start = next {
            let search = LDAPSearch.entry(entry.name, attributes: ["memberOf;range=\(start)-*"])
            guard let more = try connection.search(search).first else {
                throw ServerFault(.failed, "\(entry.name): a part of memberOf cannot be read")
            }
            let before = names.count
            next = try nextRange(of: "memberof", in: more, names: &names)
            guard names.count > before, names.count <= rules.maximumGroups else { throw tooManyGroups }
        }
        return names
    }

    /// Appends the values of a range such as `memberOf;range=0-1499`, and returns the start of the next one; the end
    /// `*` stands for the last value.
    private func nextRange(
        of attribute: String,
        in entry: LDAPEntry,
        names: inout [String]
    ) throws(ServerFault) -> Int? {
        let start = "\(attribute);range="
        guard let range = entry.attributes.first(where: { $0.name.utf8.starts(with: start.utf8) }) else { return nil }
        names += try texts(range.name, of: entry)
        let end = range.name.utf8.drop { $0 != UInt8(ascii: "-") }.dropFirst()
        if end.elementsEqual("*".utf8) { return nil }
        guard let last = UInt32(String(decoding: end, as: UTF8.self)) else {
            throw ServerFault(.failed, "\(entry.name): the server has sent \(LDAPText.printable(range.name))")
        }
        return Int(last) + 1
    }

    /// Returns the values of an attribute that names groups; throws if one is no text.
    private func texts(_ attribute: String, of entry: LDAPEntry) throws(ServerFault) -> [String] {
        try Self.requireComplete(entry)
        let texts = entry.texts(of: attribute)
        guard texts.count == entry.values(of: attribute).count else {
            throw ServerFault(.failed, "\(entry.name): \(LDAPText.printable(attribute)) has a value that is not UTF-8")
        }
        return texts
    }

    /// Throws if an entry has not been read to its end.
    private static func requireComplete(_ entry: LDAPEntry) throws(ServerFault) {
        guard !entry.isComplete else { return }
        throw ServerFault(.failed, "\(entry.name): the entry has too many attributes or values")
    }

    // MARK: The names of groups

    func group(_ entry: LDAPEntry) throws(ServerFault) -> DirectoryGroup {
        try Self.requireComplete(entry)
        let values = entry.texts(of: rules.target)
        // Values have no order; of several ones, that of the distinguished name is the name.
        let isUnclear = entry.values(of: rules.target).count > 1
        let own = isUnclear ? DistinguishedName(entry.name)?.value(of: rules.target) : nil
        return group(entry.name, value: own.map { UTF8Text(validating: $0.span)?.string } ?? values.first)
    }

    private func group(_ name: String, value: String?) -> DirectoryGroup {
        // Other groups are not compared by their distinguished names.
        let key = rules.isNested || rules.usesDistinguishedNames ? cache.key(of: name) : UTF8Text(name)
        let group = rules.usesDistinguishedNames ? key.string : value
        return DirectoryGroup(name: name, key: key, group: group.flatMap { GroupName.isUsable($0) ? $0 : nil })
    }

    /// Returns the groups with the given distinguished names that are below the base for groups.
    func groups(named names: [String]) throws(ServerFault) -> [DirectoryGroup] {
        guard names.count <= rules.maximumGroups else { throw tooManyGroups }
        var found: [[DirectoryGroup]] = []
        var missing: [(index: Int, key: UTF8Text, search: LDAPSearch)] = []
        for text in names {
            guard let name = DistinguishedName(text) else {
                throw ServerFault(.failed, "\(LDAPText.printable(text)) is a group, and no distinguished name")
            }
            guard name.isWithin(rules.baseName) else { continue }
            let value = name.value(of: rules.target)
            if rules.usesDistinguishedNames || value != nil {
                found.append([group(text, value: value.flatMap { UTF8Text(validating: $0.span)?.string })])
                continue
            }
            let key = UTF8Text("name:\(name.key)")
            let known = cache.groups(of: key)
            if known == nil { missing.append((found.count, key, .entry(text, attributes: [rules.target]))) }
            found.append(known ?? [])
        }
        try connection.search(each: missing.map(\.search)) { number, entries throws(ServerFault) in
            let (index, key, search) = missing[number]
            guard let entry = entries?.first else { throw Self.unreadableGroup(search.base) }
            found[index] = [try group(entry)]
            cache.insert(found[index], of: key)
        }
        return found.flatMap(\.self)
    }

    static func count(_ number: Int) -> String { number == 1 ? "1 group" : "\(number) groups" }

    static func unreadableGroup(_ name: String) -> ServerFault {
        ServerFault(.failed, "\(name): the entry of the group cannot be read")
    }

    var tooManyGroups: ServerFault { .tooManyGroups(maximum: rules.maximumGroups) }

    /// Returns the groups that the directory finds for the name of a group; none if it answers with an error.
    func existingGroups(_ name: String) throws(ServerFault) -> [String] {
        let search: LDAPSearch
        if rules.usesDistinguishedNames {
            guard rules.hasPrimaryGroup || DistinguishedName(name)?.isWithin(rules.baseName) == true else { return [] }
            search = .entry(name, attributes: [rules.target])
        } else {
            // The primary group is anywhere in the domain.
            let base = rules.hasPrimaryGroup ? rules.baseName.domain : nil
            let filter = "(\(rules.target)=\(LDAPText.filterValue(name.utf8)))"
            search = LDAPSearch(base: base ?? rules.base, filter: filter, attributes: [rules.target])
        }
        do throws(ServerFault) {
            return try all(search) { entry throws(ServerFault) in [try group(entry)] }.compactMap(\.group)
        } catch {
            guard error.code == .failed else { throw error }
            return []
        }
    }

    // MARK: Other kinds of groups

    /// Returns the primary group of Active Directory, which is in no list of members.
    private func primaryGroup(of user: LDAPEntry) throws(ServerFault) -> DirectoryGroup {
        guard let own = user.values(of: "objectsid").first,
            let number = user.texts(of: "primarygroupid").first.flatMap(UInt32.init),
            let identifier = SecurityIdentifier.group(number, inDomainOf: own)
        else {
            let problem = "the entry has no primaryGroupID and objectSid that this program may read (primary-group)"
            throw ServerFault(.failed, "\(user.name): \(problem)")
        }
        let filter = "(objectSid=\(LDAPText.filterValue(identifier)))"
        let key = UTF8Text(filter)
        if let known = cache.groups(of: key)?.first { return known }
        // The group is anywhere in the domain of the user.
        let base = DistinguishedName(user.name)?.domain ?? settings.base
        let found = try searchGroups(filter, base: base)
        guard let group = found.first else {
            let place = "below \(base) for \(filter) (primary-group)"
            throw ServerFault(.failed, "the primary group of \(user.name) is not found \(place)")
        }
        cache.insert(found, of: key)
        return group
    }

    /// Returns the groups whose names the server computes, as in the properties of GlassFish.
    private func dynamicGroups(
        _ dynamic: (filter: FilterTemplate, target: String),
        user: UserEntry
    ) throws(ServerFault) -> [DirectoryGroup] {
        let filter = Self.text(dynamic.filter, account: user.account, name: user.name)
        let search = LDAPSearch(base: rules.base, filter: filter, attributes: [dynamic.target])
        let names = try steps.measure(
            search.text,
            try all(search) { entry throws(ServerFault) in try texts(dynamic.target, of: entry) }
        ) { Self.count($0.count) }
        return try groups(named: names)
    }
}

/// The security identifiers of Windows: a revision, the number of parts, an authority, and the parts.
enum SecurityIdentifier {
    /// Returns the identifier with another last part, which is that of a group in the domain of a user; nil if that of
    /// the user is malformed.
    static func group(_ number: UInt32, inDomainOf user: [UInt8]) -> [UInt8]? {
        guard user.count >= 12, user.count == 8 + 4 * Int(user[1]) else { return nil }
        return Array(user.dropLast(4)) + (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * UInt32($0))) }
    }
}
#endif
