// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import LoginConf
internal import RealmKit

/// Reads the `protect` blocks.
struct RuleReader {
    let builder: ConfigurationBuilder
    /// The realms without errors.
    let linked: [BoundRealm]
    let roles: [Role]
    let defaultRealm: String?
    /// True if the file has a `default-realm` statement, even if its realm is unknown and has been reported.
    let hasDefault: Bool
    let server: ServerSettings

    static let keywords = [
        "realm", "auth", "require", "methods", "networks", "open", "nobody", "when-unavailable", "application",
        "identity-fields", "ambiguous-paths",
    ]

    func read(_ statements: [Statement]) -> [ProtectRule] {
        var rules: [(rule: ProtectRule, range: SourceRange)] = []
        var targets = RuleTargets(builder: builder)
        for statement in statements {
            guard let (target, word, statements) = builder.ruleTarget(statement) else { continue }
            let repeated = ["require", "application"]
            let block = Block(statements, of: "protect", Self.keywords, repeated: repeated, at: word.range, in: builder)
            let methods = block.methods()
            targets.add(target, methods: methods, at: word.range)
            guard var rule = rule(for: target, at: word, block: block) else { continue }
            rule.host = target.host
            checkHost(of: rule, at: word.range)
            rule.isExact = target.isExact
            rule.methods = methods ?? []
            rule.place = builder.text.place(of: word.range)
            rules.append((rule, word.range))
        }
        // The sign-in pages exist only if a rule has the scheme form.
        let hasPages = rules.contains { $0.rule.schemes.contains(.form) }
        for (rule, range) in rules { warnAboutOwnPaths(rule, at: range, hasPages: hasPages) }
        return rules.map(\.rule)
    }

    /// Reports a rule for all hosts that needs a host.
    ///
    /// With a sign-in host, every rule with the scheme `form` needs one: a session is handed over only to the hosts that
    /// rules name. Otherwise an attacker could choose the host.
    ///
    /// An identity token is valid for the host of the request. If a rule named no host, the client could choose it.
    private func checkHost(of rule: ProtectRule, at range: SourceRange) {
        guard rule.access == .users, rule.host == .any else { return }
        let hint = "name the host, as in: protect app.example.org\(rule.path) { ... }"
        if !server.identityTokenKeys.isEmpty {
            let message = "the rule needs a host, because an identity token is for the host that a rule names"
            builder.error(at: range, message, hint: hint)
        }
        guard let host = server.signIn.host, rule.schemes.contains(.form) else { return }
        let message = "the rule needs a host, because \(host) signs users in for the hosts that rules name"
        builder.error(at: range, message, hint: hint)
    }

    /// Warns about a rule for a sign-in page or for a path of the realm API; such a rule has no effect there.
    private func warnAboutOwnPaths(_ rule: ProtectRule, at range: SourceRange, hasPages: Bool) {
        let prefix = server.signIn.prefix
        let statement = "with server { sign-in { prefix /gatehouse; } }"
        let isWithin = { (page: String) in "\(rule.path)/".utf8.starts(with: "\(page)/".utf8) }
        let pages = Routes(prefix: prefix, hasLogo: server.signIn.brand.logo != nil).pagePaths
        if hasPages, let page = pages.first(where: isWithin) {
            let hint = "set another path for the pages \(statement)"
            builder.warn(at: range, "the rule has no effect: \(page) is a sign-in page", hint: hint)
        }
        let api = "\(prefix)/realms"
        if server.realmAPI != nil, isWithin(api) {
            let message = "the rule does not apply to the realm API, which has \(api) and \(api)/REALM/check"
            builder.warn(at: range, message, hint: "set another path for the realm API \(statement)")
        }
    }

    // MARK: The block of a rule

    private func rule(for target: RuleTarget, at word: RealmsConfWord, block: Block) -> ProtectRule? {
        let networks = block.addresses("networks")
        let access = access(block)
        var rule = ProtectRule(path: target.path, realms: [], schemes: [], requirements: [])
        rule.networks = networks
        rule.access = access
        if access != .nobody { rule.ambiguousPaths = block.choice("ambiguous-paths") ?? rule.ambiguousPaths }
        guard access == .users else { return rule }
        rule.requirements = requirements(block)
        rule.schemes = schemes(block)
        if block.all("require").isEmpty {
            let hint = "as in: require group User;  or: require any;"
            builder.error(at: word.range, "the rule for \(target) has no require statement", hint: hint)
        }
        rule.whenUnavailable = block.choice("when-unavailable") ?? rule.whenUnavailable
        rule.identityFields = block.choice("identity-fields") ?? rule.identityFields
        let name = ShownText.reader(of: "application", maximum: 60)
        rule.application = block.localizedText("application", for: server.signIn.translations, name)
        if let word = block.first("application")?.arguments.last, !rule.schemes.contains(.form) {
            let message = "application has no effect: only the sign-in page shows it, and auth has no form"
            builder.warn(at: word.range, message)
        }
        if let statement = block.first("realm") {
            rule.realms = builder.realms(statement)
            if block.first("when-unavailable") == nil {
                builder.warnAboutUnavailable(rule.realms, in: statement, of: linked)
            }
        } else if let defaultRealm {
            rule.realms = [defaultRealm]
        } else if !hasDefault {
            let hint = "write realm NAME; in the rule, or default-realm NAME; at the top level"
            builder.error(at: word.range, "the rule for \(target) has no realm", hint: hint, dependsOnOthers: true)
        }
        if let statement = block.first("auth"), rule.schemes.contains(.certificate) {
            let word = statement.arguments.first { $0.text == ProtectRule.Scheme.certificate.rawValue }
            checkCertificates(rule, at: word?.range ?? statement.keyword.range)
        }
        // Missing statements have been reported.
        return rule.realms.isEmpty || rule.requirements.isEmpty || rule.schemes.isEmpty ? nil : rule
    }

    /// Reads `open` and `nobody`; reports statements that cannot be combined with them.
    private func access(_ block: Block) -> ProtectRule.Access {
        let (open, nobody) = (block.first("open"), block.first("nobody"))
        for statement in [open, nobody].compactMap(\.self) { builder.checkHasNoWords(statement) }
        guard let statement = nobody ?? open else { return .users }
        let ofUsers = ["realm", "auth", "require", "when-unavailable", "application", "identity-fields"]
        let excluded = ofUsers + (nobody == nil ? [] : ["networks", "open", "ambiguous-paths"])
        for other in excluded.compactMap(block.first) {
            let message = "\(statement.keyword.text) and \(other.keyword.text) exclude each other"
            builder.error(at: other.keyword.range, message)
        }
        return nobody == nil ? .open : .nobody
    }

    private func schemes(_ block: Block) -> [ProtectRule.Scheme] {
        guard block.first("auth") != nil else { return [.basic] }
        return block.list("auth", isUnique: true) { text throws(BadWord) in
            if let scheme = ProtectRule.Scheme(rawValue: text) { return scheme }
            let hint = "the schemes are \(ProtectRule.Scheme.allCases.map(\.rawValue).joined(separator: ", "))"
            throw BadWord("there is no scheme \(text)", hint: hint)
        }.map(\.value)
    }

    /// Reports a rule whose scheme `certificate` cannot work: TLS has to request certificates, and a realm has to take
    /// user names from them.
    private func checkCertificates(_ rule: ProtectRule, at range: SourceRange) {
        if server.tls.clientCertificates == .none {
            builder.error(
                at: range,
                "the scheme certificate needs client certificates, which TLS does not request",
                hint: "add server { tls { client-certificates optional; client-ca FILE; } }",
                dependsOnOthers: true
            )
        }
        let used = linked.filter { rule.realms.contains($0.name) }
        // A realm with an error is not linked, and its error has been reported.
        if !rule.realms.isEmpty, used.count == rule.realms.count, !used.contains(where: \.stack.namesUsersByCertificate)
        {
            let hint = "add CertificateLoginModule to the login context of the realm \(rule.realms[0])"
            builder.error(at: range, "no realm of the rule takes the user name from a certificate", hint: hint)
        }
        if !server.trustedProxies.isEmpty, rule.schemes == [.certificate] {
            let hint = "a proxy cannot pass a certificate on: offer another scheme too, or let clients connect directly"
            let message = "the rule denies all requests of trusted-proxies: it accepts only certificates"
            builder.warn(at: range, message, hint: hint)
        }
    }

    // MARK: Requirements

    /// Reads the requirements; `require any` together with another requirement is an error.
    ///
    /// A user needs to meet only one requirement. Every user meets `any`, so the other requirements would have no effect.
    private func requirements(_ block: Block) -> [ProtectRule.Requirement] {
        let named = block.first("realm").map { $0.arguments.compactMap(builder.expanded) }
        let names = named ?? [defaultRealm].compactMap(\.self)
        let realms = linked.filter { names.contains($0.name) }
        let read = block.all("require").map { (statement: $0, requirement: requirement($0, of: realms)) }
        if read.count > 1, let any = read.first(where: { $0.requirement == .any }) {
            let message = "require any cannot be combined with another require"
            let hint =
                "a user needs to meet one requirement only, and every user meets any: remove require any or the others"
            builder.error(at: any.statement.keyword.range, message, hint: hint)
        }
        return read.compactMap(\.requirement)
    }

    private func requirement(_ statement: Statement, of realms: [BoundRealm]) -> ProtectRule.Requirement? {
        let words = builder.list(statement)
        guard let first = words.first, let kind = builder.expanded(first) else { return nil }
        let names = words.dropFirst()
        switch (kind, names.isEmpty) {
        case ("any", true): return .any
        case ("user", false): return .users(builder.userOrGroupNames(names))
        case ("group", false): return .groups(builder.groupNames(names, of: realms))
        case ("role", false):
            let found = names.compactMap { word in
                builder.knownName(word, as: "role", among: roles.map(\.name)).flatMap { name in
                    roles.first { $0.name == name }
                }
            }
            return found.isEmpty ? nil : .roles(found)
        case ("attribute", false) where names.count > 1:
            guard let word = names.first, let name = builder.expanded(word) else { return nil }
            guard UserAttribute.isValid(name: name) else {
                let hint = "a name has ASCII letters, digits, - . and _, as in: require attribute department sales;"
                builder.error(at: word.range, "\(name) is not a name of an attribute", hint: hint)
                return nil
            }
            return .attribute(name, values: builder.userOrGroupNames(names.dropFirst()))
        default:
            let hint =
                "require any;  require user ann zed;  require group User Staff;  require role admin;  or: require attribute department sales;"
            let texts = statement.mayQuoteArguments(in: builder.text) ? words.compactMap(builder.expanded) : [kind]
            let message = "unknown requirement: \(texts.joined(separator: " "))"
            builder.error(at: first.range, message, hint: hint)
            return nil
        }
    }
}
