// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Passwords
internal import RealmKit

/// How files are read.
struct ReadingRules: Sendable {
    /// The form the configuration names; nil to tell by the content.
    var form: KeyFileForm?
    var allowsClearText = false
    /// Who checks passwords, and may not have the memory for some hashes; nil where nobody signs in.
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
    /// One bad line takes no other user down, and makes nobody a user or a member of anything.
    convenience init(
        _ bytes: [UInt8],
        _ lines: [TextLine],
        form: KeyFileForm,
        groups: [Username: [String]]?,
        path: String,
        rules: ReadingRules,
        warnings: [String] = [],
        reusing previous: UserTable? = nil
    ) {
        var reader = TableReader(bytes, form, groups, path, rules, previous, warnings)
        form.read(bytes, lines) { line, read in reader.take(line, read) }
        self.init(form: form, users: reader.users, places: reader.places, warnings: reader.warnings)
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
    var users: [StoredUser] = []
    var places: [Username: Int] = [:]
    var warnings: [String]

    init(
        _ bytes: [UInt8],
        _ form: KeyFileForm,
        _ groups: [Username: [String]]?,
        _ path: String,
        _ rules: ReadingRules,
        _ previous: UserTable?,
        _ warnings: [String]
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

    mutating func take(_ line: TextLine, _ read: ReadLine) {
        switch read {
        case .nothing: break
        case .refused(let reason): warn(line.number, "the line is left out: \(reason)")
        case .user(let user): take(user)
        }
    }

    private mutating func take(_ line: UserLine) {
        let number = line.line.number
        if let place = places[line.name] {
            warn(number, "\(line.name) stands on line \(users[place].line) already; neither can sign in")
            users[place].isAmbiguous = true
            users[place].groups = []
            return
        }
        guard var stored = bytes.text(line.stored), !stored.holdsControl else {
            return warn(number, "the line is left out: the hash is not UTF-8")
        }
        guard let groups = groups(of: line) else {
            return warn(number, "the line is left out: its groups are not UTF-8, or hold a control character")
        }
        for group in groups where group.hasBlankAtAnEnd {
            warn(number, "the group \(group.debugDescription) has a blank at an end, so it is another than without")
        }
        let isEnabled = !stored.hasPrefix("!")
        if !isEnabled { stored.removeFirst() }
        places[line.name] = users.count
        users.append(
            StoredUser(
                name: line.name,
                groups: groups,
                stored: stored,
                isEnabled: isEnabled,
                password: password(stored, of: line.name, number),
                line: number
            )
        )
    }

    private func groups(of line: UserLine) -> [String]? {
        if let groups { return groups[line.name] ?? [] }
        return line.groups.map { KeyFileForm.groups(bytes, $0) } ?? []
    }

    private mutating func password(_ stored: String, of name: Username, _ line: Int) -> StoredPassword? {
        guard !stored.isEmpty, stored != form.noPassword else { return nil }
        if let known = previous?[name]?.password, known.text.utf8.elementsEqual(stored.utf8) { return known }
        do throws(BadHash) {
            let password = try StoredPassword(stored, options)
            if let passwords = rules.passwords, !passwords.affords(password.hash.cost) {
                throw BadHash("a check of \(password.hash.cost) takes more memory than all may take together")
            }
            return password
        } catch {
            warn(line, "\(name) cannot sign in: \(error)")
            return nil
        }
    }

    private mutating func warn(_ line: Int, _ text: String) {
        warnings.append("\(path):\(line): \(text)")
    }
}
