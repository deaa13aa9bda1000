// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Passwords
internal import RealmKit

/// The rules by which files of users are read.
struct ReadingRules: Sendable {
    /// The configured form; nil to detect it by the content.
    var form: KeyFileForm?
    var allowsClearText = false
    /// The service that checks passwords, whose memory limit may exclude some hashes; nil in a program without logins.
    var passwords: PasswordService?

    func options(_ form: KeyFileForm) -> FormatOptions {
        var options = FormatOptions()
        options.isGlassFish = form == .glassfish
        options.allowsClearText = allowsClearText
        return options
    }
}

extension UserTable {
    /// Reads the users of a file.
    ///
    /// A malformed line is ignored and does not affect other users.
    convenience init(
        _ bytes: [UInt8],
        lines: [TextLine],
        form: KeyFileForm,
        groups: [Username: [String]]?,
        path: String,
        rules: ReadingRules,
        fileWarnings: [String] = [],
        groupWarnings: [String] = [],
        reusing previous: UserTable? = nil
    ) {
        var reader = TableReader(
            bytes,
            form: form,
            groups: groups,
            path: path,
            rules: rules,
            previous: previous,
            warnings: groupWarnings
        )
        form.read(bytes, lines: lines) { line, read in reader.take(line, read: read) }
        self.init(
            form: form,
            users: reader.users,
            places: reader.places,
            fileWarnings: fileWarnings,
            lineWarnings: reader.warnings
        )
    }
}

private struct TableReader {
    let bytes: [UInt8]
    let form: KeyFileForm
    let groups: [Username: [String]]?
    let path: String
    let rules: ReadingRules
    let options: FormatOptions
    let previous: UserTable?
    var users: [FileUser] = []
    var places: [Username: Int] = [:]
    var warnings: [String]

    init(
        _ bytes: [UInt8],
        form: KeyFileForm,
        groups: [Username: [String]]?,
        path: String,
        rules: ReadingRules,
        previous: UserTable?,
        warnings: [String]
    ) {
        self.bytes = bytes
        self.form = form
        self.groups = groups
        self.path = path
        self.rules = rules
        options = rules.options(form)
        self.previous = previous?.form == form ? previous : nil
        self.warnings = warnings
    }

    mutating func take(_ line: TextLine, read: ReadLine) {
        switch read {
        case .nothing: break
        case .refused(let reason): warn(line.number, text: "the line is ignored: \(reason)")
        case .user(let user): take(user)
        }
    }

    private mutating func take(_ line: UserLine) {
        let number = line.line.number
        if let place = places[line.name] {
            warn(number, text: "\(line.name) is on line \(users[place].line) already; neither entry can sign in")
            users[place].isAmbiguous = true
            users[place].groups = []
            return
        }
        guard var stored = bytes.text(line.stored), !stored.holdsControl else {
            return warn(number, text: "the line is ignored: the hash is not UTF-8")
        }
        guard let groups = groups(of: line) else {
            return warn(number, text: "the line is ignored: its groups are not UTF-8, or contain a control character")
        }
        for group in groups where group.hasBlankAtAnEnd {
            warn(
                number,
                text:
                    "the group \(group.debugDescription) begins or ends with a blank, so it differs from the group without the blank"
            )
        }
        let isEnabled = !stored.hasPrefix("!")
        if !isEnabled { stored.removeFirst() }
        places[line.name] = users.count
        users.append(
            FileUser(
                name: line.name,
                groups: groups,
                stored: stored,
                isEnabled: isEnabled,
                password: password(stored, of: line.name, line: number),
                line: number
            )
        )
    }

    private func groups(of line: UserLine) -> [String]? {
        if let groups { return groups[line.name] ?? [] }
        return line.groups.map { KeyFileForm.groups(bytes, in: $0) } ?? []
    }

    private mutating func password(_ stored: String, of name: Username, line: Int) -> StoredPassword? {
        guard !stored.isEmpty, stored != form.noPassword else { return nil }
        if let known = previous?[name]?.password, known.text.utf8.elementsEqual(stored.utf8) { return known }
        do throws(BadHash) {
            let password = try StoredPassword(stored, options: options)
            if let passwords = rules.passwords, !passwords.isWithinMemoryLimit(password.hash.cost) {
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
