// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import LoginConf

/// Reads the `protect` blocks.
struct RuleReader {
    let linker: Linker
    let realms: [String]
    let defaultRealm: String?
    /// Whether one is named, be it wrong: that has been said then.
    let hasDefault: Bool

    func read(_ statements: [Statement]) -> [ProtectRule] {
        var rules: [ProtectRule] = []
        var places: [String: SourceRange] = [:]
        for statement in statements {
            guard let (word, block) = linker.named(statement), let path = path(word) else { continue }
            if let earlier = places[path] {
                let hint = "the first one is at \(linker.text.place(of: earlier))"
                linker.error(word.range, "a second rule for \(path)", hint: hint)
            }
            places[path] = word.range
            if let rule = rule(path, word, block) { rules.append(rule) }
        }
        return rules
    }

    /// A path as requests have it after normalisation, so that a rule can be compared with one.
    private func path(_ word: Word) -> String? {
        guard let text = linker.expanded(word) else { return nil }
        let segments = text.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        let isPlain = text.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"%?#\\;\"".utf8.contains($0) }
        let inner = segments.last == "" ? segments.dropLast() : segments
        guard text.hasPrefix("/"), isPlain, !inner.contains(where: { ["", ".", ".."].contains($0) }) else {
            let hint = "as in /welcome: begins with /, no // . .. % ? # ; \\ and no blanks"
            linker.error(word.range, "\(text) is not a path that can be protected", hint: hint)
            return nil
        }
        return inner.isEmpty ? "/" : "/" + inner.joined(separator: "/")
    }

    private func rule(_ path: String, _ word: Word, _ statements: [Statement]) -> ProtectRule? {
        let block = Block(statements, of: "protect", ["realm", "auth", "require"], in: linker)
        let requirements = block.all("require").compactMap(requirement)
        let schemes = schemes(block.once("auth"))
        if block.all("require").isEmpty {
            let hint = "as in: require group User;  or: require any;"
            linker.error(word.range, "the rule for \(path) does not say who may come in", hint: hint)
        }
        var realm = defaultRealm
        if let word = block.word("realm") {
            realm = linker.known(word, "realm", among: realms)
        } else if block.once("realm") == nil, !hasDefault {
            linker.error(
                word.range,
                "the rule for \(path) names no realm",
                hint: "realm NAME;  or default-realm NAME; at the top"
            )
        }
        guard let realm, !requirements.isEmpty, !schemes.isEmpty else { return nil }
        return ProtectRule(path: path, realms: [realm], schemes: schemes, requirements: requirements)
    }

    private func schemes(_ statement: Statement?) -> [ProtectRule.Scheme] {
        guard let statement else { return [.basic] }
        return linker.words(statement).compactMap { word in
            guard let text = linker.expanded(word) else { return nil }
            if let scheme = ProtectRule.Scheme(rawValue: text) { return scheme }
            let hint = "this version has \(ProtectRule.Scheme.allCases.map(\.rawValue).joined(separator: ", "))"
            linker.error(word.range, "there is no scheme \(text)", hint: hint)
            return nil
        }
    }

    private func requirement(_ statement: Statement) -> ProtectRule.Requirement? {
        let words = linker.words(statement)
        let texts = words.compactMap(linker.expanded)
        guard let kind = texts.first, texts.count == words.count else { return nil }
        let names = Array(texts.dropFirst())
        for (word, name) in zip(words, texts).dropFirst() {
            if name.isEmpty {
                linker.error(word.range, "nobody has an empty name")
            } else if !word.isQuoted, name.contains(",") || ["realm", "auth", "require"].contains(name) {
                let hint = "names are separated by blanks, statements end with ; (quote the word if it is a name)"
                linker.log.add(linker.text.warning(at: word.range, "\(name) is taken for a name", hint: hint))
            }
        }
        switch (kind, names.isEmpty) {
        case ("any", true): return .any
        case ("user", false): return .users(names)
        case ("group", false): return .groups(names)
        default:
            let hint = "require any;  require user ann zed;  or: require group User Staff;"
            linker.error(words[0].range, "require \(texts.joined(separator: " ")) is not understood", hint: hint)
            return nil
        }
    }
}
