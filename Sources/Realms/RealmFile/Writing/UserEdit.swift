// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Passwords
internal import RealmKit

enum UserEdit: Sendable {
    case add(UserRecord, hash: String?)
    case change(Username, UserChanges)
    case remove(Username)

    var user: Username {
        switch self {
        case .add(let record, _): record.name
        case .change(let user, _), .remove(let user): user
        }
    }

    /// Returns the change with the name as a line spells it; with the given name, if a line has it.
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

    /// Rejects a change that the format cannot store; the users in the file are not checked.
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

    /// Returns the replacements in the user file; nil if it does not change.
    func splices(_ version: UserFilesVersion) throws(RealmError) -> [Splice]? {
        let (table, bytes) = (version.table, version.file.bytes)
        switch self {
        case .add(let record, let hash):
            guard table[record.name] == nil else { throw .userExists(record.name) }
            let stored = (record.isEnabled ? "" : "!") + (hash ?? table.format.noPassword)
            let line = table.format.line(record.name, stored: stored, groups: Self.unique(record.groups))
            return [.line(line, after: bytes)]
        case .change(let user, let changes):
            guard let known = table[user] else { throw .noSuchUser(user) }
            let lines = table.format.lines(of: user, in: bytes)
            guard !known.isAmbiguous, let line = lines.first, lines.count == 1 else {
                throw .invalidOperation("\(user) is on several lines; remove the user, or all lines but one")
            }
            if let replacing = changes.replacing, !replacing.hasBytes(of: known.stored) { return nil }
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
        if !stored.hasBytes(of: before) { splices.append(Splice(line.stored, stored)) }
        if format == .glassfish, let groups = changes.groups.map(unique),
            !groups.elementsEqual(known.groups, by: { $0.hasBytes(of: $1) })
        {
            let text = groups.joined(separator: ",")
            splices.append(line.groups.map { Splice($0, text) } ?? Splice(line.end..<line.end, ";" + text))
        }
        return splices
    }

    static func unique(_ groups: [String]) -> [String] {
        var seen: Set<UTF8Text> = []
        return groups.filter { seen.insert(UTF8Text($0)).inserted }
    }
}

/// The replacement of a range of bytes in a file.
struct Splice: Sendable {
    let range: Range<Int>
    let bytes: [UInt8]

    init(_ range: Range<Int>, _ text: String = "") {
        self.range = range
        bytes = Array(text.utf8)
    }

    init(_ range: Range<Int>, _ bytes: [UInt8]) {
        self.range = range
        self.bytes = bytes
    }

    /// Appends a line.
    static func line(_ text: String, after bytes: [UInt8]) -> Splice {
        let end = TextLine.end(in: bytes)
        let isOpen = bytes.last.map { $0 != 0x0A } ?? false
        return Splice(bytes.count..<bytes.count, (isOpen ? end : []) + Array(text.utf8) + end)
    }

    func applied(to bytes: [UInt8]) -> [UInt8] { Self.apply([self], to: bytes) }

    /// Returns the bytes after all replacements, which must not overlap; insertions at one index keep their order.
    static func apply(_ splices: [Splice], to bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + splices.reduce(0) { $0 + $1.bytes.count })
        var index = 0
        let ordered = splices.enumerated().sorted {
            ($0.element.range.lowerBound, $0.offset) < ($1.element.range.lowerBound, $1.offset)
        }
        for (_, splice) in ordered {
            result += bytes[index..<splice.range.lowerBound]
            result += splice.bytes
            index = splice.range.upperBound
        }
        return result + bytes[index...]
    }
}

extension KeyFileFormat {
    func line(_ user: Username, stored: String, groups: [String]) -> String {
        switch self {
        case .glassfish: "\(user);\(stored);\(groups.joined(separator: ","))"
        case .htpasswd: "\(user):\(stored)"
        }
    }

    /// Returns the lines of a user, of which there may be several.
    func lines(of user: Username, in bytes: [UInt8]) -> [UserLine] {
        let name = Array(user.text.utf8)
        let lines = TextLine.lines(of: bytes)
        var found: [UserLine] = []
        for (index, line) in lines.enumerated() {
            // Only lines that begin with the name are parsed, because the file may have thousands of lines.
            let content = self == .htpasswd ? bytes.trimmed(line.content) : line.content
            guard bytes[content].starts(with: name) else { continue }
            if self == .htpasswd, index > 0, Self.isContinued(bytes, content: lines[index - 1].content) { continue }
            if case .user(let known) = read(bytes, content: content, line: line), known.name == user {
                found.append(known)
            }
        }
        return found
    }

    /// Rejects a user name that could not be read back unchanged.
    func check(_ user: Username, hasGroups: Bool) throws(RealmError) {
        let text = user.text
        if text.utf8.first == UInt8(ascii: "#") {
            throw .invalidOperation("a user name in \(name) cannot begin with #")
        }
        if text.unicodeScalars.first == "\u{FEFF}" {
            throw .invalidOperation("a user name in \(name) cannot begin with a byte order mark")
        }
        // Both formats reject both characters, because they determine which format is detected.
        for mark in ";:".utf8 where text.utf8.contains(mark) {
            throw .invalidOperation("a user name in \(name) cannot contain \(Unicode.Scalar(mark))")
        }
        let isPlain = text.unicodeScalars.allSatisfy { !$0.properties.isWhitespace && !["\"", "'", "\\"].contains($0) }
        guard self == .glassfish || !hasGroups || isPlain else {
            throw .invalidOperation("a user name in a group file cannot contain blanks, quotes or backslashes")
        }
    }

    /// Rejects groups that could not be read back unchanged.
    func check(_ groups: [String]) throws(RealmError) {
        // The readers split lines at bytes, so a mark counts as well if a combining mark follows it.
        let marks = Array((self == .glassfish ? ";," : ":\\").utf8)
        for group in groups {
            guard !group.isEmpty else { throw .invalidOperation("a group without a name cannot be stored in \(name)") }
            guard !group.containsControlCharacter, !group.hasLeadingOrTrailingBlank else {
                throw .invalidOperation(
                    "the name of a group cannot contain control characters, or leading or trailing blanks"
                )
            }
            for mark in marks where group.utf8.contains(mark) {
                throw .invalidOperation(
                    "the name of a group in \(name) cannot contain \(Unicode.Scalar(mark)): \(group)"
                )
            }
            if self == .htpasswd, let first = group.unicodeScalars.first, first == "#" || first == "\u{FEFF}" {
                let problem = "the name of a group in a group file cannot begin with # or a byte order mark: \(group)"
                throw .invalidOperation(problem)
            }
        }
    }

    /// Rejects a hash that could not be read back unchanged.
    func check(hash: String, readOptions: ReadOptions) throws(RealmError) {
        guard !hash.isEmpty, !hash.containsControlCharacter, !hash.hasLeadingOrTrailingBlank,
            hash.utf8.first != UInt8(ascii: "!"),
            !hash.hasBytes(of: noPassword),
            !hash.utf8.contains(separator), hash.utf8.last != UInt8(ascii: "\\")
        else { throw .invalidOperation("this hash cannot be stored in \(name)") }
        let options = readOptions.formatOptions(self)
        _ = try Result { () throws(BadHash) in try PasswordFormats.read(hash, options: options) }
            .mapError { RealmError.invalidOperation("\($0)") }.get()
    }

    static func check(expiry: Int?, mustChange: Bool) throws(RealmError) {
        guard expiry == nil else {
            throw .invalidOperation("a file of users cannot store when an account expires; use a store realm")
        }
        guard !mustChange else {
            throw .invalidOperation("a file of users cannot store that a password must be changed; use a store realm")
        }
    }
}
