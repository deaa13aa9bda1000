// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes
internal import LoginConf
internal import RealmKit

/// Reads the `role` blocks.
struct RoleReader {
    let builder: ConfigurationBuilder
    /// The realms without errors.
    let linked: [BoundRealm]

    static let keywords = ["group", "user", "realm", "required-by"]

    func read(_ statements: [Statement]) -> [Role] {
        var roles: [Role] = []
        var rangesByName: [String: SourceRange] = [:]
        for statement in statements {
            guard let (word, block) = builder.wordAndBlock(statement), let name = builder.expanded(word) else {
                continue
            }
            if let earlier = rangesByName[name] {
                builder.reportSecond("role \(name)", at: word.range, first: earlier)
                continue
            }
            rangesByName[name] = word.range
            roles.append(role(name, at: word, statements: block))
        }
        return roles
    }

    private func role(_ name: String, at word: RealmsConfWord, statements: [Statement]) -> Role {
        let block = Block(
            statements,
            of: "role",
            Self.keywords,
            repeated: ["group", "user"],
            at: word.range,
            in: builder
        )
        if block.all("group").isEmpty, block.all("user").isEmpty {
            let hint = "as in: group Admins;  or: user ann;"
            builder.error(at: word.range, "the role \(name) has no group or user", hint: hint)
        }
        if let (word, text) = block.text("required-by"), text != "code" {
            let hint = "as in: required-by code;"
            builder.error(at: word.range, "required-by takes the word code, not \(text)", hint: hint)
        }
        let own = block.realms("realm")
        let users = own.isEmpty ? linked : linked.filter { own.contains($0.name) }
        return Role(
            name: name,
            realms: own,
            groups: block.all("group").flatMap { builder.groupNames(builder.list($0)[...], of: users) },
            users: block.all("user").flatMap { builder.userOrGroupNames(builder.list($0)[...]) }
        )
    }

    /// Warns about roles that no rule requires; a rule is probably missing, or a name is misspelled.
    ///
    /// A role with `required-by code` is required by the code of a Swift server.
    func warnAboutUnused(_ roles: [Statement], in rules: [Statement]) {
        var used: Set<String> = []
        for case .block(let statements) in rules.map(\.body) {
            for statement in statements where statement.keyword.text == "require" {
                used.formUnion(builder.list(statement).dropFirst().compactMap(builder.expanded))
            }
        }
        for role in roles {
            if case .block(let statements) = role.body,
                statements.contains(where: { $0.keyword.text == "required-by" })
            {
                continue
            }
            guard let word = role.arguments.first, let name = builder.expanded(word), !used.contains(name) else {
                continue
            }
            let hint = "if the code of your server requires it, write required-by code; in the role"
            builder.warn(at: word.range, "no rule requires the role \(name)", hint: hint)
        }
    }
}

extension ConfigurationBuilder {
    /// Reads the list of realms of a statement; a realm that occurs twice is an error.
    func realms(_ statement: Statement) -> [String] {
        var names: [String] = []
        for word in list(statement) {
            guard let name = knownName(word, as: "realm", among: realmNames) else { continue }
            if names.contains(name) { error(at: word.range, "\(name) occurs twice in \(statement.keyword.text)") }
            names.append(name)
        }
        return names
    }

    /// Reads names of groups for rules and roles, and returns them in the spellings that the users of the realms have.
    func groupNames(_ words: ArraySlice<RealmsConfWord>, of realms: [BoundRealm]) -> [String] {
        var seen: Set<UTF8Text> = []
        return words.flatMap { word -> [String] in
            guard let name = userOrGroupNames([word]).first else { return [] }
            let required = Configuration.RequiredGroup(name: name, realms: realms)
            log.groups.append(Located(required, in: text, at: word.range))
            var names: [String] = []
            var faults: [String] = []
            for realm in realms {
                do throws(BadValue) {
                    names += try realm.spellings(ofGroup: name)
                } catch {
                    faults.append("no user of realm \(realm.name) can be in \(name), which \(error)")
                }
            }
            if names.isEmpty {
                for fault in faults { warn(at: word.range, fault) }
                names = [name]
            }
            return names.filter { seen.insert(UTF8Text($0)).inserted }
        }
    }

    func userOrGroupNames(_ words: ArraySlice<RealmsConfWord>) -> [String] {
        words.compactMap { word in
            guard let name = expanded(word) else { return nil }
            if name.isEmpty {
                error(at: word.range, "a name must not be empty")
            } else if !word.isQuoted, name.utf8.contains(where: { "*?".utf8.contains($0) }) {
                let hint = "for every user of the realms write require any; quote the word if it is a name"
                error(at: word.range, "\(name) is a pattern, and patterns are not supported", hint: hint)
            } else if !word.isQuoted, Self.isOperator(name) {
                let hint =
                    "names are separated by blanks, and one of them is enough; there are no operators (quote the word if it is a name)"
                error(at: word.range, "\(name) is not a name", hint: hint)
            } else if !word.isQuoted, Self.ruleKeywords.contains(name) {
                let hint = "names are separated by blanks, statements end with ; (quote the word if it is a name)"
                warn(at: word.range, "\(name) is read as a name", hint: hint)
            }
            return name
        }
    }

    /// Returns whether an unquoted word was probably meant as an operator or contains one.
    private static func isOperator(_ word: String) -> Bool {
        ["and", "or", "not", "=", ":", ":=", "=="].contains(word.lowercased()) || word.utf8.first == UInt8(ascii: "!")
            || word.utf8.contains { "|&".utf8.contains($0) }
    }

    /// The keywords of rules; if a list of names contains a keyword, a `;` is probably missing before it.
    private static let ruleKeywords: Set<String> = [
        "realm", "auth", "require", "methods", "networks", "when-unavailable",
    ]
}
