// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit

/// One change of one user in the bytes of the files.
enum UserEdit: Sendable {
    case add(UserRecord, hash: String?)
    case change(Username, UserChanges)
    case remove(Username)

    /// The user that is changed.
    var user: Username {
        switch self {
        case .add(let record, _): record.name
        case .change(let user, _), .remove(let user): user
        }
    }

    /// Rejects a change that the form cannot store, independent of the users in the file.
    func check(_ form: KeyFileForm, paths: UserFilePaths) throws(RealmError) {
        switch self {
        case .add(let record, let hash):
            try KeyFileForm.check(expiry: record.expiry, mustChange: record.mustChangePassword)
            try form.check(record.name, hasGroups: !record.groups.isEmpty)
            try Self.check(record.groups, form: form, paths: paths)
            if let hash { try form.check(hash: hash, rules: paths.rules) }
        case .change(let user, let changes):
            try KeyFileForm.check(expiry: changes.expiry ?? nil, mustChange: changes.mustChangePassword ?? false)
            if let groups = changes.groups {
                try form.check(user, hasGroups: !groups.isEmpty)
                try Self.check(groups, form: form, paths: paths)
            }
            if let hash = changes.hash { try form.check(hash: hash, rules: paths.rules) }
        case .remove: break
        }
    }

    private static func check(_ groups: [String], form: KeyFileForm, paths: UserFilePaths) throws(RealmError) {
        guard form == .glassfish || groups.isEmpty || paths.groupFile != nil else {
            throw .invalidOperation("an htpasswd file has no groups; set group-file to a file for them")
        }
        try form.check(groups)
    }

    /// Returns the changes of the user file; nil if there are none.
    func splices(_ version: UserFilesVersion) throws(RealmError) -> [Splice]? {
        let (table, bytes) = (version.table, version.file.bytes)
        switch self {
        case .add(let record, let hash):
            guard table[record.name] == nil else { throw .userExists(record.name) }
            let stored = (record.isEnabled ? "" : "!") + (hash ?? table.form.noPassword)
            return [.line(table.form.line(record.name, stored: stored, groups: Self.each(record.groups)), after: bytes)]
        case .change(let user, let changes):
            guard let known = table[user] else { throw .noSuchUser(user) }
            let lines = table.form.lines(of: user, in: bytes)
            guard !known.isAmbiguous, let line = lines.first, lines.count == 1 else {
                throw .invalidOperation("\(user) is on several lines; remove the user, or all lines but one")
            }
            if let replacing = changes.replacing, !replacing.utf8.elementsEqual(known.stored.utf8) { return nil }
            return Self.splices(changes, known: known, line: line, form: table.form)
        case .remove(let user):
            guard table[user] != nil else { throw .noSuchUser(user) }
            return table.form.lines(of: user, in: bytes).map { Splice($0.line.whole) }
        }
    }

    private static func splices(
        _ changes: UserChanges,
        known: FileUser,
        line: UserLine,
        form: KeyFileForm
    ) -> [Splice] {
        var splices: [Splice] = []
        let isEnabled = changes.isEnabled ?? known.isEnabled
        let stored = (isEnabled ? "" : "!") + (changes.hash ?? known.stored)
        let before = (known.isEnabled ? "" : "!") + known.stored
        if !stored.utf8.elementsEqual(before.utf8) { splices.append(Splice(line.stored, stored)) }
        if form == .glassfish, let groups = changes.groups.map(each), groups != known.groups {
            let text = groups.joined(separator: ",")
            if let place = line.groups {
                splices.append(Splice(place, text))
            } else {
                splices.append(Splice(line.end..<line.end, ";" + text))
            }
        }
        return splices
    }

    /// Returns groups without repetitions.
    static func each(_ groups: [String]) -> [String] {
        groups.reduce(into: []) { kept, group in
            if !kept.contains(where: { $0.utf8.elementsEqual(group.utf8) }) { kept.append(group) }
        }
    }
}
