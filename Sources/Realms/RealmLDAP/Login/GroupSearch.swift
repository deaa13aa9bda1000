// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Bytes
internal import RealmKit
internal import ServerConnections

/// Finds the groups of a user on one connection.
struct GroupSearch {
    let connection: LDAPConnection
    let call: ServerCall
    let cache: GroupCache
    let steps: DirectorySteps
    /// Renews the groups that contain groups before they are read again at a login.
    var renew: @Sendable ([DirectoryGroup]) -> Void = { _ in }
    var settings: GroupSettings { connection.settings.groups }

    /// Returns the names of the groups of a user, each once.
    ///
    /// Throws if the groups are more, or nested deeper, than the settings allow: a group that denies access must not be
    /// missing. For this reason every function here throws if a part of the groups cannot be read.
    func groups(of user: UserEntry) throws(ServerFault) -> [String] {
        guard settings.source != .none || settings.dynamic != nil else { return [] }
        var found: [DirectoryGroup] = []
        switch settings.source {
        case .none: break
        case .memberOf: found = try groups(named: memberOf(user.entry))
        case .search: found = try search(Self.text(settings.filter, account: user.account, name: user.name))
        }
        let hasPrimary = settings.hasPrimaryGroup && settings.source != .none
        let primary = hasPrimary ? try primaryGroup(of: user.entry) : nil
        if let primary { found.append(primary) }
        if let dynamic = settings.dynamic { found += try dynamicGroups(dynamic, user: user) }
        if settings.isNested { found = try nested(found, primary: primary, user: user) }
        let unusable = found.filter { $0.group == nil }
        if let first = unusable.first {
            steps.note(
                "\(steps.server): groups that are left out, because they have no usable name in "
                    + "\(settings.target) (group-target): \(unusable.count), such as \(LDAPText.printable(first.name))"
            )
        }
        var seen: Set<UTF8Text> = []
        return found.compactMap(\.group).filter { seen.insert(UTF8Text($0)).inserted }
    }

    /// Throws if an entry has not been read to its end.
    private static func check(_ entry: LDAPEntry) throws(ServerFault) {
        guard entry.isComplete else {
            throw ServerFault(.failed, "\(entry.name): the entry has too many attributes or values")
        }
    }

    // MARK: Direct groups

    /// Returns the values of `memberOf`, which Active Directory returns in several ranges.
    func memberOf(_ entry: LDAPEntry) throws(ServerFault) -> [String] {
        var names = try texts("memberof", of: entry)
        var next = try nextRange(of: "memberof", in: entry, names: &names)
        while let start = next {
            let search = LDAPSearch.entry(entry.name, attributes: LDAPAttributeList(["memberOf;range=\(start)-*"]))
            guard let more = try connection.search(search, call: call).first else {
                throw ServerFault(.failed, "\(entry.name): a part of memberOf cannot be read")
            }
            let before = names.count
            next = try nextRange(of: "memberof", in: more, names: &names)
            guard names.count > before, names.count <= settings.maximumGroups else { throw tooMany }
        }
        return names
    }

    /// Returns the values of an attribute that names groups; throws if one is no text.
    private func texts(_ attribute: String, of entry: LDAPEntry) throws(ServerFault) -> [String] {
        try Self.check(entry)
        let values = entry.values(of: attribute)
        let texts = UserEntry.texts(values)
        guard texts.count == values.count else {
            throw ServerFault(.failed, "\(entry.name): \(LDAPText.printable(attribute)) has a value that is not UTF-8")
        }
        return texts
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

    /// Returns the filter for the groups of a user, by the accepted name and never the typed one, or of a group, which
    /// has no user name.
    static func text(_ filter: FilterTemplate, account: String = "", name: String) -> String {
        filter.filter { value in
            switch value {
            case .name, .typedName: account
            case .distinguishedName: name
            }
        }
    }

    func search(_ filter: String, base: String? = nil) throws(ServerFault) -> [DirectoryGroup] {
        let search = LDAPSearch(base: base ?? settings.base, filter: filter, attributes: settings.attributes)
        var found: [DirectoryGroup] = []
        try steps.measure(search.text) { () throws(ServerFault) in
            try connection.searchAll(search, call: call) { entries throws(ServerFault) in
                found += try entries.map(group)
                guard found.count <= settings.maximumGroups else { throw tooMany }
            }
            return Self.count(found.count)
        }
        return found
    }

    func group(_ entry: LDAPEntry) throws(ServerFault) -> DirectoryGroup {
        try Self.check(entry)
        let values = entry.values(of: settings.target)
        // Values have no order; of several ones, that of the distinguished name is the name.
        let own = values.count > 1 ? DistinguishedName(entry.name)?.value(of: settings.target) : nil
        return directoryGroup(entry.name, value: UserEntry.texts(own.map { [$0] } ?? values).first)
    }

    private func directoryGroup(_ name: String, value: String?) -> DirectoryGroup {
        // Other groups are not compared by their distinguished names.
        let isCompared = settings.isNested || settings.usesDistinguishedNames
        let key = isCompared ? cache.key(of: name) : UTF8Text(name)
        let group = Self.usable(settings.usesDistinguishedNames ? key.string : value)
        return DirectoryGroup(name: name, key: key, group: group)
    }

    /// Returns the groups with the given distinguished names that are below the base for groups.
    func groups(named names: [String]) throws(ServerFault) -> [DirectoryGroup] {
        guard names.count <= settings.maximumGroups else { throw tooMany }
        var found: [[DirectoryGroup]] = []
        var missing: [(index: Int, key: UTF8Text, search: LDAPSearch)] = []
        for text in names {
            guard let name = DistinguishedName(text), let base = settings.baseName else {
                throw ServerFault(.failed, "\(LDAPText.printable(text)) is a group, and no distinguished name")
            }
            guard name.isWithin(base) else { continue }
            if settings.usesDistinguishedNames || name.value(of: settings.target) != nil {
                let value = name.value(of: settings.target).map { UserEntry.texts([$0]) }?.first
                found.append([directoryGroup(text, value: value)])
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
            found[index] = [try group(entry)]
            cache.insert(found[index], of: key)
        }
        return found.flatMap(\.self)
    }

    static func count(_ number: Int) -> String { number == 1 ? "1 group" : "\(number) groups" }
    private static func usable(_ name: String?) -> String? { name.flatMap { GroupName.isUsable($0) ? $0 : nil } }

    static func unreadable(_ name: String) -> ServerFault {
        ServerFault(.failed, "\(name): the entry of the group cannot be read")
    }

    var tooMany: ServerFault { .tooManyGroups(maximum: settings.maximumGroups) }

    /// Returns the groups that the directory finds for the name of a group; none if it answers with an error.
    func existing(_ name: String) throws(ServerFault) -> [String] {
        let search: LDAPSearch
        if settings.usesDistinguishedNames {
            let counts = DistinguishedName(name).flatMap { name in settings.baseName.map(name.isWithin) } == true
            guard counts || settings.hasPrimaryGroup else { return [] }
            search = .entry(name, attributes: settings.attributes)
        } else {
            // The primary group is anywhere in the domain.
            let base = settings.hasPrimaryGroup ? settings.baseName?.domain : nil
            let filter = "(\(settings.target)=\(LDAPText.filterValue(name.utf8)))"
            search = LDAPSearch(base: base ?? settings.base, filter: filter, attributes: settings.attributes)
        }
        var found: [String] = []
        do throws(ServerFault) {
            try connection.searchAll(search, call: call) { entries throws(ServerFault) in
                found += try entries.map(group).compactMap(\.group)
                guard found.count <= settings.maximumGroups else { throw tooMany }
            }
        } catch {
            guard error.code == .failed else { throw error }
        }
        return found
    }

    // MARK: Other kinds of groups

    /// Returns the primary group of Active Directory, which is in no list of members.
    private func primaryGroup(of user: LDAPEntry) throws(ServerFault) -> DirectoryGroup {
        guard let own = user.values(of: "objectsid").first,
            let number = UserEntry.texts(user.values(of: "primarygroupid")).first.flatMap(UInt32.init),
            let identifier = SecurityIdentifier.group(number, inDomainOf: own)
        else {
            let problem = "the entry has no primaryGroupID and objectSid that this program may read (primary-group)"
            throw ServerFault(.failed, "\(user.name): \(problem)")
        }
        let filter = "(objectSid=\(LDAPText.filterValue(identifier)))"
        let key = UTF8Text(filter)
        if let known = cache.groups(of: key)?.first { return known }
        // The group is anywhere in the domain of the user.
        let base = DistinguishedName(user.name)?.domain ?? connection.settings.base
        let found = try search(filter, base: base)
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
        let search = LDAPSearch(base: settings.base, filter: filter, attributes: LDAPAttributeList([dynamic.target]))
        var names: [String] = []
        try steps.measure(search.text) { () throws(ServerFault) in
            try connection.searchAll(search, call: call) { entries throws(ServerFault) in
                for entry in entries { names += try texts(dynamic.target, of: entry) }
                guard names.count <= settings.maximumGroups else { throw tooMany }
            }
            return Self.count(names.count)
        }
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
