// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import LoginConf

/// Reads the `role` blocks.
struct RoleReader {
    let linker: Linker
    let realms: [String]

    func read(_ statements: [Statement]) -> [Role] {
        var roles: [Role] = []
        var places: [String: SourceRange] = [:]
        for statement in statements {
            guard let (word, block) = linker.named(statement), let name = linker.expanded(word) else { continue }
            if let earlier = places[name] {
                let hint = "the first one is at \(linker.text.place(of: earlier))"
                linker.error(word.range, "a second role \(name)", hint: hint)
                continue
            }
            places[name] = word.range
            roles.append(role(name, word, block))
        }
        return roles
    }

    private func role(_ name: String, _ word: Word, _ statements: [Statement]) -> Role {
        let block = Block(
            statements,
            of: "role",
            ["group", "user", "realm"],
            repeated: ["group", "user"],
            in: linker
        )
        if block.all("group").isEmpty, block.all("user").isEmpty {
            let hint = "as in: group Admins;  or: user ann;"
            linker.error(word.range, "the role \(name) does not say who has it", hint: hint)
        }
        return Role(
            name: name,
            realms: block.once("realm").map { linker.realms($0, among: realms) } ?? [],
            groups: block.all("group").flatMap { linker.userNames(linker.words($0)[...]) },
            users: block.all("user").flatMap { linker.userNames(linker.words($0)[...]) }
        )
    }

    /// A role that no rule asks for is a rule that somebody has forgotten, or a name that is misspelled.
    func warnAboutUnused(_ roles: [Statement], in rules: [Statement]) {
        var used: Set<String> = []
        for case .block(let statements) in rules.map(\.body) {
            for statement in statements where statement.keyword.text == "require" {
                used.formUnion(statement.arguments.dropFirst().compactMap(linker.expanded))
            }
        }
        for word in roles.compactMap(\.arguments.first) {
            guard let name = linker.expanded(word), !used.contains(name) else { continue }
            linker.log.add(linker.text.warning(at: word.range, "no rule requires the role \(name)"))
        }
    }
}

extension Linker {
    /// The names of realms that a statement lists, each once.
    func realms(_ statement: Statement, among known: [String]) -> [String] {
        var names: [String] = []
        for word in words(statement) {
            guard let name = self.known(word, "realm", among: known) else { continue }
            if names.contains(name) { error(word.range, "\(name) stands twice in \(statement.keyword.text)") }
            names.append(name)
        }
        return names
    }

    /// Names of users or groups.
    func userNames(_ words: ArraySlice<Word>) -> [String] {
        words.compactMap { word in
            guard let name = expanded(word) else { return nil }
            if name.isEmpty {
                error(word.range, "nobody has an empty name")
            } else if !word.isQuoted, name.contains(",") || Self.suspicious.contains(name) {
                let hint = "names are separated by blanks, statements end with ; (quote the word if it is a name)"
                log.add(text.warning(at: word.range, "\(name) is taken for a name", hint: hint))
            }
            return name
        }
    }

    /// Keywords that stand within a statement where the `;` of the one before is missing, rather than as names.
    private static let suspicious: Set<String> = ["realm", "auth", "require", "methods", "networks"]
}
