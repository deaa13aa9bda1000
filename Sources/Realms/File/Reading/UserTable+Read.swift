// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Passwords
internal import RealmKit

/// The options for reading a file of users.
struct ReadOptions: Sendable {
    /// The configured format; nil if the format is detected from the content.
    var format: KeyFileFormat?
    var allowsClearText = false
    /// The service that checks passwords; nil in a program without logins.
    ///
    /// A user whose hash needs more memory or time than the limit of the service cannot sign in.
    var passwords: PasswordService?

    var longestCheck: Duration { passwords?.longestCheck ?? HashingSettings(workers: 1).longestCheck }

    func formatOptions(_ format: KeyFileFormat) -> FormatOptions {
        var options = FormatOptions()
        options.isGlassFish = format == .glassfish
        options.allowsClearText = allowsClearText
        return options
    }
}

extension UserTable {
    /// Reads the users of a file.
    ///
    /// A malformed line is ignored. It does not affect other users.
    convenience init(
        _ bytes: [UInt8],
        lines: [TextLine],
        format: KeyFileFormat,
        groups: [Username: [String]]?,
        attributes: [Username: [UserAttribute]] = [:],
        path: String,
        readOptions: ReadOptions,
        fileWarnings: [String] = [],
        groupWarnings: [String] = [],
        reusing previous: UserTable? = nil
    ) {
        var reader = TableReader(
            bytes,
            format: format,
            groups: groups,
            attributes: attributes,
            path: path,
            readOptions: readOptions,
            previous: previous,
            warnings: groupWarnings
        )
        format.read(bytes, lines: lines) { line, read in reader.add(line, read: read) }
        self.init(
            format: format,
            users: reader.users,
            indexByName: reader.indexByName,
            longestCheck: readOptions.longestCheck,
            fileWarnings: fileWarnings,
            lineWarnings: reader.warnings
        )
    }
}

private struct TableReader {
    let bytes: [UInt8]
    let path: String
    let reader: UserLineReader
    let previous: UserTable?
    var users: [FileUser] = []
    var indexByName: [Username: Int] = [:]
    /// The lines of names that are on ignored lines only.
    private var ignoredLines: [Username: Int] = [:]
    var warnings: [String]

    init(
        _ bytes: [UInt8],
        format: KeyFileFormat,
        groups: [Username: [String]]?,
        attributes: [Username: [UserAttribute]],
        path: String,
        readOptions: ReadOptions,
        previous: UserTable?,
        warnings: [String]
    ) {
        self.bytes = bytes
        self.path = path
        reader = UserLineReader(format: format, groups: groups, attributes: attributes, readOptions: readOptions)
        self.previous = previous?.format == format ? previous : nil
        self.warnings = warnings
    }

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
        if let index = indexByName[line.name] {
            warn(number, text: UserLineReader.duplicate(line.name, of: users[index].line))
            ignore(line.name, line: number)
            return
        }
        if let first = ignoredLines[line.name] {
            warn(number, text: UserLineReader.duplicate(line.name, of: first))
            return
        }
        let (user, problems) = reader.read(line, in: bytes, known: previous?[line.name]?.password)
        for problem in problems { warn(number, text: problem) }
        guard let user else {
            ignore(line.name, line: number)
            return
        }
        indexByName[line.name] = users.count
        users.append(user)
    }

    /// Disables the user of an ignored line.
    ///
    /// A line that cannot be read may be the line that is meant, so no other line of the name is used.
    private mutating func ignore(_ name: Username, line: Int) {
        guard let index = indexByName[name] else {
            if ignoredLines[name] == nil { ignoredLines[name] = line }
            return
        }
        users[index].isAmbiguous = true
        users[index].groups = []
    }

    private mutating func warn(_ line: Int, text: String) {
        warnings.append("\(path):\(line): \(text)")
    }
}
