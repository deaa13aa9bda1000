// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Passwords
internal import RealmKit

/// The users of one version of the files.
final class UserTable: Sendable {
    let format: KeyFileFormat
    /// In the order of the file.
    let users: [FileUser]
    /// One decoy for each cost among the hashes of users that can sign in.
    let hashPerCost: [any PasswordHash]
    /// About ignored lines and other problems.
    let warnings: [String]
    let lineWarnings: [String]
    private let indexByKey: [UTF8Text: Int]
    private let readOptions: ReadOptions

    init(
        format: KeyFileFormat,
        users: [FileUser],
        indexByKey: [UTF8Text: Int],
        readOptions: ReadOptions,
        fileWarnings: [String],
        lineWarnings: [String]
    ) {
        self.format = format
        self.users = users
        self.indexByKey = indexByKey
        self.readOptions = readOptions
        var decoys: [HashCost: any PasswordHash] = [:]
        for user in users {
            guard let hash = user.usablePassword?.hash, decoys[hash.cost] == nil else { continue }
            decoys[hash.cost] = hash.decoy
        }
        hashPerCost = decoys.sorted { $0.key.description < $1.key.description }.map(\.value)
        var warnings = fileWarnings + lineWarnings
        let costs = hashPerCost.map(\.cost)
        if let warning = HashCost.warning(about: costs, longestCheck: readOptions.longestCheck) {
            warnings.append(warning)
        }
        self.warnings = warnings
        self.lineWarnings = lineWarnings
    }

    subscript(name: Username) -> FileUser? { indexByKey[readOptions.key(of: name)].map { users[$0] } }

    /// Returns the users whose cached credentials and sessions are no longer valid after a change to this version.
    func changes(since old: UserTable, rehashed: [Username: String]) -> Set<Username> {
        var changed: Set<Username> = []
        for user in old.users {
            guard let now = self[user.name], user.isSame(as: now, rehashedTo: rehashed[user.name]) else {
                changed.insert(user.name)
                continue
            }
        }
        return changed
    }
}

extension UserTable {
    /// Reads the users of a file; a malformed line is ignored, and does not affect other users.
    convenience init(
        _ bytes: [UInt8],
        lines: [TextLine],
        format: KeyFileFormat,
        groups: [UTF8Text: [String]]?,
        attributes: [UTF8Text: [UserAttribute]] = [:],
        path: String,
        readOptions: ReadOptions,
        fileWarnings: [String] = [],
        groupWarnings: [String] = [],
        reusing previous: UserTable? = nil
    ) {
        var reader = TableReader(
            bytes: bytes,
            path: path,
            reader: UserLineReader(format: format, groups: groups, attributes: attributes, readOptions: readOptions),
            previous: previous?.format == format ? previous : nil,
            warnings: groupWarnings
        )
        format.read(bytes, lines: lines) { line, read in reader.add(line, read: read) }
        self.init(
            format: format,
            users: reader.users,
            indexByKey: reader.indexByKey,
            readOptions: readOptions,
            fileWarnings: fileWarnings + Self.truncationWarnings(reader.users, path: path, readOptions: readOptions),
            lineWarnings: reader.warnings
        )
    }

    /// Returns a warning about hashes of the first bytes of a password; few passwords exceed the 72 bytes of bcrypt.
    private static func truncationWarnings(_ users: [FileUser], path: String, readOptions: ReadOptions) -> [String] {
        let truncated = users.filter { ($0.usablePassword?.hash.truncatesAfter).map { $0 < 64 } ?? false }
        guard !readOptions.acceptsTruncated, let first = truncated.first, let hash = first.password?.hash,
            let count = hash.truncatesAfter
        else { return [] }
        let who = truncated.count == 1 ? "\(first.name) has a hash" : "\(truncated.count) users have hashes"
        return [
            "\(path):\(first.line): \(who) of the first \(count) bytes of the password (\(hash.cost.format)), so a longer "
                + "password is refused; truncated-passwords true accepts it once, and then replaces the hash"
        ]
    }
}

struct ReadOptions: Sendable {
    /// Nil if the format is detected.
    var format: KeyFileFormat?
    var allowsClearText = false
    /// True if names that differ in case belong to different users.
    var isCaseSensitive = true
    /// True if a password is accepted of which the hash covers only the beginning.
    var acceptsTruncated = false
    /// Nil in a program without logins; a user whose hash exceeds the limits of the service cannot sign in.
    var passwords: PasswordService?

    var longestCheck: Duration { passwords?.longestCheck ?? HashingSettings(workers: 1).longestCheck }

    func formatOptions(_ format: KeyFileFormat) -> FormatOptions {
        var options = FormatOptions()
        options.isGlassFish = format == .glassfish
        options.allowsClearText = allowsClearText
        options.acceptsTruncated = acceptsTruncated
        return options
    }

    /// All spellings of a user's name have the same key.
    func key(of name: Username) -> UTF8Text { UTF8Text(isCaseSensitive ? name.text : name.caseFolded) }
}

private struct TableReader {
    let bytes: [UInt8]
    let path: String
    let reader: UserLineReader
    let previous: UserTable?
    var users: [FileUser] = []
    var indexByKey: [UTF8Text: Int] = [:]
    /// The lines of names that are on ignored lines only.
    var ignoredLines: [UTF8Text: Int] = [:]
    var warnings: [String]

    mutating func add(_ line: TextLine, read: ParsedLine) {
        switch read {
        case .blank: break
        case .malformed(let reason):
            warn(line.number, text: UserLineReader.ignored(reason))
            if let name = reader.format.name(ofMalformed: line, in: bytes) { ignore(name, line: line.number) }
        case .user(let user): add(user)
        }
    }

    private mutating func add(_ line: UserLine) {
        let number = line.line.number
        let key = reader.readOptions.key(of: line.name)
        if let index = indexByKey[key] {
            warn(number, text: UserLineReader.duplicate(line.name, of: users[index].line, as: users[index].name))
            ignore(line.name, line: number)
            return
        }
        if let first = ignoredLines[key] {
            warn(number, text: UserLineReader.duplicate(line.name, of: first))
            return
        }
        let (user, problems) = reader.read(line, in: bytes, known: previous?[line.name]?.password)
        for problem in problems { warn(number, text: problem) }
        guard let user else {
            ignore(line.name, line: number)
            return
        }
        indexByKey[key] = users.count
        users.append(user)
    }

    /// Disables the user of an ignored line: it may be the line that is meant, so no other line of the name is used.
    private mutating func ignore(_ name: Username, line: Int) {
        let key = reader.readOptions.key(of: name)
        guard let index = indexByKey[key] else {
            if ignoredLines[key] == nil { ignoredLines[key] = line }
            return
        }
        users[index].isAmbiguous = true
        users[index].groups = []
    }

    private mutating func warn(_ line: Int, text: String) { warnings.append("\(path):\(line): \(text)") }
}
