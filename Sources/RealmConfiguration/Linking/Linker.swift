// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import LoginConf
internal import RealmKit

/// Makes a configuration of the statements of a realms.conf, reporting everything that is wrong with them.
struct Linker {
    let text: SourceText
    let expansion: Expansion
    let loader: ConfigurationLoader
    let log: DiagnosticLog

    static let keywords = ["default-realm", "login-config", "login", "realm", "role", "server", "protect", "passwords"]

    init(_ text: SourceText, expansion: Expansion, loader: ConfigurationLoader, log: DiagnosticLog) {
        self.text = text
        self.expansion = expansion
        self.loader = loader
        self.log = log
    }

    func link(_ statements: [Statement]) -> Configuration {
        let block = Block(
            statements,
            of: "realms.conf",
            Self.keywords,
            repeated: ["login-config", "login", "realm", "role", "protect"],
            in: self
        )
        let contexts = ContextTable(
            files: block.all("login-config"),
            inline: block.all("login"),
            in: self
        )
        // A realm that could not be made has had its error; naming it is none of its own.
        let names = block.all("realm").compactMap { $0.arguments.first }.compactMap(expanded)
        let server = ServerReader(linker: self, realms: names).read(block.once("server"))
        let passwords = PasswordsReader(linker: self).read(block.once("passwords"))
        let services = services(passwords, server, block)
        let realmLinker = RealmLinker(linker: self, contexts: contexts, services: services)
        let realms = realmLinker.link(block.all("realm"))
        let defaultRealm = defaultRealm(block, among: names)
        let roleReader = RoleReader(linker: self, realms: names)
        let roles = roleReader.read(block.all("role"))
        let rules = RuleReader(
            linker: self,
            realms: names,
            roles: roles,
            defaultRealm: defaultRealm,
            hasDefault: block.once("default-realm") != nil,
            pages: server.signIn.prefix
        ).read(block.all("protect"))
        roleReader.warnAboutUnused(block.all("role"), in: block.all("protect"))
        // While a realm could not be made it is not known which entries are used.
        if realms.count == block.all("realm").count {
            contexts.warnAboutUnknownModules(known: loader.kinds, unlessUsedBy: realms)
        }
        return Configuration(
            file: text.name,
            defaultRealm: defaultRealm,
            realms: realms,
            contexts: contexts.summary(realms),
            server: server,
            passwords: passwords,
            services: services,
            roles: roles,
            rules: rules,
            warnings: log.diagnostics.filter { $0.severity == .warning },
            authenticator: Authenticator(realms)
        )
    }

    private func services(_ passwords: PasswordSettings, _ server: ServerSettings, _ block: Block) -> RealmServices {
        do throws(RealmServiceFault) {
            return try loader.services.services(for: passwords, stateFolder: server.stateFolder.value)
        } catch {
            let place =
                switch error.cause {
                case .passwords: block.once("passwords")?.keyword.range
                case .state: block.once("server")?.keyword.range
                }
            self.error(place ?? .none, error.message)
            return .none
        }
    }

    private func defaultRealm(_ block: Block, among names: [String]) -> String? {
        guard let word = block.word("default-realm") else { return nil }
        return known(word, "realm", among: names)
    }

    /// The name a word gives, if there is such a thing; an error with the nearest name if not.
    func known(_ word: Word, _ thing: String, among names: [String]) -> String? {
        guard let name = expanded(word) else { return nil }
        if names.contains(name) { return name }
        error(word.range, "there is no \(thing) \(name)", hint: Self.hint(name, among: names))
        return nil
    }

    func expanded(_ word: Word) -> String? {
        do throws(Diagnostic) {
            return try word.expanded(by: expansion, in: text)
        } catch {
            log.add(error)
            return nil
        }
    }

    func error(_ range: SourceRange, _ message: String, hint: String? = nil) {
        log.add(text.error(at: range, message, hint: hint))
    }

    static func hint(_ name: String, among names: [String]) -> String? {
        if let nearest = NearestName.suggest(name, among: names) { return "did you mean \(nearest)?" }
        return names.isEmpty ? "there are none" : "there are \(names.sorted().joined(separator: ", "))"
    }
}
