// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Passwords
internal import RealmKit

/// A change of one user in the files.
enum UserEdit: Sendable {
    case add(UserRecord, hash: String?)
    case change(Username, UserChanges)
    case remove(Username)

    /// The name of the user who is changed.
    var user: Username {
        switch self {
        case .add(let record, _): record.name
        case .change(let user, _), .remove(let user): user
        }
    }

    /// Returns the change with the user's name as it is spelled in the file.
    ///
    /// If a line has the name that was given, that line is meant.
    func spelled(as version: UserFilesVersion) -> UserEdit {
        guard let known = version.table[user]?.name, known != user,
            version.table.format.lines(of: user, in: version.file.bytes).isEmpty
        else { return self }
        return switch self {
        case .add: self
        case .change(_, let changes): .change(known, changes)
        case .remove: .remove(known)
        }
    }

    /// Rejects a change that the format cannot store.
    ///
    /// The users in the file are not checked.
    func check(_ format: KeyFileFormat, settings: UserFileSettings) throws(RealmError) {
        switch self {
        case .add(let record, let hash):
            try KeyFileFormat.check(expiry: record.expiry, mustChange: record.mustChangePassword)
            try Self.check(record.attributes.map { .set($0) }, settings: settings)
            try format.check(record.name, hasGroups: !record.groups.isEmpty)
            try Self.check(record.groups, format: format, settings: settings)
            if let hash { try format.check(hash: hash, readOptions: settings.readOptions) }
        case .change(let user, let changes):
            try KeyFileFormat.check(expiry: changes.expiry ?? nil, mustChange: changes.mustChangePassword ?? false)
            try Self.check(changes.attributes, settings: settings)
            if let groups = changes.groups {
                try format.check(user, hasGroups: !groups.isEmpty)
                try Self.check(groups, format: format, settings: settings)
            }
            if let hash = changes.hash { try format.check(hash: hash, readOptions: settings.readOptions) }
        case .remove: break
        }
    }

    private static func check(_ groups: [String], format: KeyFileFormat, settings: UserFileSettings) throws(RealmError)
    {
        guard format == .glassfish || groups.isEmpty || settings.groupFile != nil else {
            throw .invalidOperation("an htpasswd file has no groups; set group-file to a file for the groups")
        }
        try format.check(groups)
    }

    /// Rejects attributes that could not be read back unchanged.
    private static func check(_ changes: [AttributeChange], settings: UserFileSettings) throws(RealmError) {
        guard !changes.isEmpty else { return }
        guard settings.attributeFile != nil else {
            throw .invalidOperation(
                "a file of users has no names and mail addresses; set attribute-file to a file for them"
            )
        }
        for case .set(let attribute) in changes where attribute.values.contains(where: \.hasLeadingOrTrailingBlank) {
            throw .invalidOperation("a value of \(attribute.name) cannot begin or end with a blank")
        }
    }

    /// Returns the replacements in the user file; nil if the file does not change.
    func splices(_ version: UserFilesVersion) throws(RealmError) -> [Splice]? {
        let (table, bytes) = (version.table, version.file.bytes)
        switch self {
        case .add(let record, let hash):
            guard table[record.name] == nil else { throw .userExists(record.name) }
            let stored = (record.isEnabled ? "" : "!") + (hash ?? table.format.noPassword)
            return [
                .line(table.format.line(record.name, stored: stored, groups: Self.unique(record.groups)), after: bytes)
            ]
        case .change(let user, let changes):
            guard let known = table[user] else { throw .noSuchUser(user) }
            let lines = table.format.lines(of: user, in: bytes)
            guard !known.isAmbiguous, let line = lines.first, lines.count == 1 else {
                throw .invalidOperation("\(user) is on several lines; remove the user, or all lines but one")
            }
            if let replacing = changes.replacing, !replacing.utf8.elementsEqual(known.stored.utf8) { return nil }
            return Self.splices(changes, known: known, line: line, format: table.format)
        case .remove(let user):
            guard table[user] != nil else { throw .noSuchUser(user) }
            return table.format.lines(of: user, in: bytes).map { Splice($0.line.whole) }
        }
    }

    private static func splices(
        _ changes: UserChanges,
        known: FileUser,
        line: UserLine,
        format: KeyFileFormat
    ) -> [Splice] {
        var splices: [Splice] = []
        let isEnabled = changes.isEnabled ?? known.isEnabled
        // A mark such as `!!` would still disable the user.
        let isEnabling = isEnabled && !known.isEnabled
        let kept = isEnabling && PasswordFormats.isNoPassword(known.stored) ? format.noPassword : known.stored
        let stored = (isEnabled ? "" : "!") + (changes.hash ?? kept)
        let before = (known.isEnabled ? "" : "!") + known.stored
        if !stored.utf8.elementsEqual(before.utf8) { splices.append(Splice(line.stored, stored)) }
        if format == .glassfish, let groups = changes.groups.map(unique),
            !groups.elementsEqual(known.groups, by: { $0.hasBytes(of: $1) })
        {
            let text = groups.joined(separator: ",")
            if let index = line.groups {
                splices.append(Splice(index, text))
            } else {
                splices.append(Splice(line.end..<line.end, ";" + text))
            }
        }
        return splices
    }

    /// Returns groups without repetitions.
    static func unique(_ groups: [String]) -> [String] {
        var seen: Set<UTF8Text> = []
        return groups.filter { seen.insert(UTF8Text($0)).inserted }
    }
}
