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
    /// A user whose hash needs more memory than the limit of the service cannot sign in.
    var passwords: PasswordService?

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
            fileWarnings: fileWarnings,
            lineWarnings: reader.warnings
        )
    }
}

private struct TableReader {
    let bytes: [UInt8]
    let format: KeyFileFormat
    let groups: [Username: [String]]?
    let attributes: [Username: [UserAttribute]]
    let path: String
    let readOptions: ReadOptions
    let formatOptions: FormatOptions
    let previous: UserTable?
    var users: [FileUser] = []
    var indexByName: [Username: Int] = [:]
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
        self.format = format
        self.groups = groups
        self.attributes = attributes
        self.path = path
        self.readOptions = readOptions
        formatOptions = readOptions.formatOptions(format)
        self.previous = previous?.format == format ? previous : nil
        self.warnings = warnings
    }

    mutating func add(_ line: TextLine, read: ParsedLine) {
        switch read {
        case .blank: break
        case .malformed(let reason): warn(line.number, text: "the line is ignored: \(reason)")
        case .user(let user): add(user)
        }
    }

    private mutating func add(_ line: UserLine) {
        let number = line.line.number
        if let index = indexByName[line.name] {
            warn(
                number,
                text: "duplicate user \(line.name) (also on line \(users[index].line)): the user cannot sign in"
            )
            users[index].isAmbiguous = true
            users[index].groups = []
            return
        }
        guard var stored = bytes.text(line.stored), !stored.containsControlCharacter else {
            return warn(number, text: "the line is ignored: the hash is not UTF-8")
        }
        guard let groups = groups(of: line) else {
            return warn(number, text: "the line is ignored: its groups are not UTF-8, or contain a control character")
        }
        for group in groups where group.hasLeadingOrTrailingBlank {
            warn(
                number,
                text:
                    "the group \(group.debugDescription) begins or ends with a blank, so it differs from the group without the blank"
            )
        }
        let isEnabled = !stored.hasPrefix("!")
        if !isEnabled { stored.removeFirst() }
        indexByName[line.name] = users.count
        users.append(
            FileUser(
                name: line.name,
                groups: groups,
                attributes: attributes[line.name] ?? [],
                stored: stored,
                isEnabled: isEnabled,
                password: password(stored, of: line.name, line: number),
                line: number
            )
        )
    }

    private func groups(of line: UserLine) -> [String]? {
        if let groups { return groups[line.name] ?? [] }
        return line.groups.map { KeyFileFormat.groups(bytes, in: $0) } ?? []
    }

    private mutating func password(_ stored: String, of name: Username, line: Int) -> StoredPassword? {
        guard !stored.isEmpty, stored != format.noPassword else { return nil }
        if let known = previous?[name]?.password, known.text.utf8.elementsEqual(stored.utf8) { return known }
        do throws(BadHash) {
            let password = try StoredPassword(stored, options: formatOptions)
            if let passwords = readOptions.passwords, !passwords.isWithinMemoryLimit(password.hash.cost) {
                throw BadHash("a check of \(password.hash.cost) takes more memory than the limit for all checks")
            }
            return password
        } catch {
            warn(line, text: "\(name) cannot sign in: \(error)")
            return nil
        }
    }

    private mutating func warn(_ line: Int, text: String) {
        warnings.append("\(path):\(line): \(text)")
    }
}
