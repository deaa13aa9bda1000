// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import LoginConf
internal import RealmKit

/// Reads the `protect` blocks.
struct RuleReader {
    let linker: Linker
    let realms: [String]
    let roles: [Role]
    let defaultRealm: String?
    /// Whether one is named, be it wrong: that has been said then.
    let hasDefault: Bool
    /// What the paths of the sign-in pages begin with.
    let pages: String

    private static let keywords = ["realm", "auth", "require", "methods", "networks", "open", "nobody"]

    func read(_ statements: [Statement]) -> [ProtectRule] {
        var rules: [ProtectRule] = []
        var ranges: [SourceRange] = []
        var places = RulePlaces(linker: linker)
        for statement in statements {
            guard let (place, word, statements) = linker.rulePlace(statement) else { continue }
            let block = Block(statements, of: "protect", Self.keywords, repeated: ["require"], in: linker)
            let methods = block.once("methods").map(methods)
            places.add(place, methods, at: word.range)
            guard var rule = rule(place, word, block) else { continue }
            rule.host = place.host
            rule.isExact = place.isExact
            rule.methods = methods ?? []
            rule.place = linker.text.place(of: word.range)
            rules.append(rule)
            ranges.append(word.range)
        }
        // Without a form there are no pages.
        if rules.contains(where: { $0.schemes.contains(.form) }) {
            for (rule, range) in zip(rules, ranges) { warnOfPages(rule, range) }
        }
        return rules
    }

    /// A rule about a page of ours decides nothing, which somebody may have meant otherwise.
    private func warnOfPages(_ rule: ProtectRule, _ range: SourceRange) {
        let page = SignInSettings.pages.map { "\(pages)/\($0)" }.first { page in
            rule.path.utf8.elementsEqual(page.utf8) || rule.path.utf8.starts(with: "\(page)/".utf8)
        }
        guard let page else { return }
        let hint = "server { sign-in { prefix /gatehouse; } } puts the pages elsewhere"
        let message = "\(page) is a page of the sign-in, and no rule decides about it"
        linker.log.add(linker.text.warning(at: range, message, hint: hint))
    }

    private func rule(_ place: RulePlace, _ word: Word, _ block: Block) -> ProtectRule? {
        let networks = block.once("networks").map { statement in
            linker.words(statement).compactMap { linker.addressBlock($0, of: "networks") }
        }
        let access = access(block)
        var rule = ProtectRule(path: place.path, realms: [], schemes: [], requirements: [])
        rule.networks = networks ?? []
        rule.access = access
        guard access == .users else { return rule }
        rule.requirements = block.all("require").compactMap(requirement)
        rule.schemes = schemes(block.once("auth"))
        if block.all("require").isEmpty {
            let hint = "as in: require group User;  or: require any;"
            linker.error(word.range, "the rule for \(place) does not say who may come in", hint: hint)
        }
        if let statement = block.once("realm") {
            rule.realms = linker.realms(statement, among: realms)
        } else if let defaultRealm {
            rule.realms = [defaultRealm]
        } else if !hasDefault {
            linker.error(
                word.range,
                "the rule for \(place) names no realm",
                hint: "realm NAME;  or default-realm NAME; at the top"
            )
        }
        // Whatever is missing has been said.
        return rule.realms.isEmpty || rule.requirements.isEmpty || rule.schemes.isEmpty ? nil : rule
    }

    /// What the rule does, from `open` and `nobody`, which say all there is to say.
    private func access(_ block: Block) -> ProtectRule.Access {
        let (open, nobody) = (block.once("open"), block.once("nobody"))
        for statement in [open, nobody].compactMap(\.self) { linker.alone(statement) }
        guard let statement = open ?? nobody else { return .users }
        let excluded = ["realm", "auth", "require"] + (nobody == nil ? [] : ["networks", "open"])
        for other in excluded.compactMap(block.once) {
            let word = (nobody ?? statement).keyword.text
            linker.error(other.keyword.range, "\(word) and \(other.keyword.text) exclude each other")
        }
        return nobody == nil ? .open : .nobody
    }

    private func methods(_ statement: Statement) -> [String] {
        var methods: [String] = []
        for word in linker.words(statement) {
            guard let method = linker.expanded(word) else { continue }
            let isToken = method.utf8.allSatisfy { (0x41...0x5A).contains($0) || $0 == UInt8(ascii: "-") }
            guard isToken, (1...32).contains(method.utf8.count) else {
                let hint = "A to Z and -, up to 32 of them, as in GET"
                linker.error(word.range, "\(method) is not a method", hint: hint)
                continue
            }
            if methods.contains(method) { linker.error(word.range, "\(method) stands twice in methods") }
            methods.append(method)
        }
        return methods
    }

    private func schemes(_ statement: Statement?) -> [ProtectRule.Scheme] {
        guard let statement else { return [.basic] }
        var schemes: [ProtectRule.Scheme] = []
        for word in linker.words(statement) {
            guard let text = linker.expanded(word) else { continue }
            guard let scheme = ProtectRule.Scheme(rawValue: text) else {
                let hint = "this version has \(ProtectRule.Scheme.allCases.map(\.rawValue).joined(separator: ", "))"
                linker.error(word.range, "there is no scheme \(text)", hint: hint)
                continue
            }
            if schemes.contains(scheme) { linker.error(word.range, "\(text) stands twice in auth") }
            schemes.append(scheme)
        }
        return schemes
    }

    private func requirement(_ statement: Statement) -> ProtectRule.Requirement? {
        let words = linker.words(statement)
        guard let first = words.first, let kind = linker.expanded(first) else { return nil }
        let names = words.dropFirst()
        switch (kind, names.isEmpty) {
        case ("any", true): return .any
        case ("user", false): return .users(linker.userNames(names))
        case ("group", false): return .groups(linker.userNames(names))
        case ("role", false):
            let found = names.compactMap { word in
                linker.known(word, "role", among: roles.map(\.name)).flatMap { name in
                    roles.first { $0.name == name }
                }
            }
            return found.isEmpty ? nil : .roles(found)
        default:
            let texts = words.compactMap(linker.expanded)
            let hint = "require any;  require user ann zed;  require group User Staff;  or: require role admin;"
            linker.error(first.range, "require \(texts.joined(separator: " ")) is not understood", hint: hint)
            return nil
        }
    }
}
