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
    let hashPerCost: [PasswordHash]
    /// All warnings, with the ``lineWarnings``.
    let warnings: [String]
    /// The warnings about lines that are ignored, or whose user cannot sign in.
    let lineWarnings: [String]
    private let indexByKey: [UTF8Text: Int]
    private let readOptions: ReadOptions

    /// Reads the users of a file; a malformed line is ignored, and does not affect other users.
    init(
        _ bytes: [UInt8],
        lines: [TextLine],
        reader: UserLineReader,
        path: String,
        fileWarnings: [String] = [],
        lineWarnings: [String] = [],
        reusing previous: UserTable? = nil
    ) {
        (format, readOptions) = (reader.format, reader.readOptions)
        let known = previous?.format == format ? previous : nil
        var table = TableReader(bytes: bytes, path: path, reader: reader, previous: known, warnings: lineWarnings)
        format.read(bytes, lines: lines) { line, read in table.add(line, read: read) }
        (users, indexByKey, self.lineWarnings) = (table.users, table.indexByKey, table.warnings)
        var decoys: [HashCost: PasswordHash] = [:]
        for user in table.users {
            guard let hash = user.usablePassword?.hash, decoys[hash.cost] == nil else { continue }
            decoys[hash.cost] = hash.decoy
        }
        hashPerCost = decoys.sorted { $0.key.description < $1.key.description }.map(\.value)
        let cost = HashCost.warning(about: hashPerCost.map(\.cost), longestCheck: readOptions.longestCheck)
        let truncation = Self.truncationWarning(table.users, path: path, readOptions: readOptions)
        warnings = fileWarnings + [truncation].compactMap(\.self) + table.warnings + [cost].compactMap(\.self)
    }

    subscript(name: Username) -> FileUser? { indexByKey[readOptions.key(of: name)].map { users[$0] } }

    /// Returns the users whose cached credentials and sessions are no longer valid after a change to this version.
    func changes(since old: UserTable, rehashed: [Username: String]) -> Set<Username> {
        let changed = old.users.filter { user in
            self[user.name].map { !user.isSame(as: $0, rehashedTo: rehashed[user.name]) } ?? true
        }
        return Set(changed.map(\.name))
    }

    /// Returns a warning about hashes of the first bytes of a password; few passwords exceed the 72 bytes of bcrypt.
    private static func truncationWarning(_ users: [FileUser], path: String, readOptions: ReadOptions) -> String? {
        let truncated = users.filter { ($0.usablePassword?.hash.truncatesAfter).map { $0 < 64 } ?? false }
        guard !readOptions.acceptsTruncated, let first = truncated.first, let hash = first.password?.hash,
            let count = hash.truncatesAfter
        else { return nil }
        let who = truncated.count == 1 ? "\(first.name) has a hash" : "\(truncated.count) users have hashes"
        return
            "\(path):\(first.line): \(who) of the first \(count) bytes of the password (\(hash.cost.format)), so a longer "
            + "password is refused; truncated-passwords true accepts it once, and then replaces the hash"
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
            warn(line.number, text: TextLine.ignored(reason))
            if let name = reader.format.name(ofMalformed: line, in: bytes) { ignore(name, line: line.number) }
        case .user(let user): add(user)
        }
    }

    private mutating func add(_ line: UserLine) {
        let number = line.line.number
        let key = reader.readOptions.key(of: line.name)
        if let user = indexByKey[key].map({ users[$0] }) {
            let spelling = user.name == line.name ? "" : ", as \(user.name)"
            warn(number, text: Self.duplicate(line.name, of: "\(user.line)\(spelling)"))
            return ignore(line.name, line: number)
        }
        if let first = ignoredLines[key] { return warn(number, text: Self.duplicate(line.name, of: "\(first)")) }
        let (user, problems) = reader.read(line, in: bytes, known: previous?[line.name]?.password)
        for problem in problems { warn(number, text: problem) }
        guard let user else { return ignore(line.name, line: number) }
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

    private static func duplicate(_ name: Username, of line: String) -> String {
        "duplicate user \(name) (also on line \(line)): the user cannot sign in"
    }

    private mutating func warn(_ line: Int, text: String) { warnings.append("\(path):\(line): \(text)") }
}
