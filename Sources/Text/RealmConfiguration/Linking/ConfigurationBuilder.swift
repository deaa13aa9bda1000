// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Files
internal import LoginConf
internal import Passwords
internal import Prover
internal import RealmKit

/// Builds a configuration from the statements of a realms.conf, and reports all errors in them.
struct ConfigurationBuilder {
    let text: SourceText
    let expansion: Expansion
    /// The files that the references of the present value have named.
    let references = FileReferences()
    let loader: ConfigurationLoader
    let log: DiagnosticLog
    /// The names of all realms, with those that have errors: a reference to such a realm is not an error of its own.
    var realmNames: [String] = []

    static let keywords = [
        "default-realm", "login-config", "login", "realm", "role", "server", "protect", "passwords", "assert",
    ]

    init(_ text: SourceText, loader: ConfigurationLoader, log: DiagnosticLog) {
        self.text = text
        expansion = loader.expansion(for: text.name) { [references] in references.add($0) }
        self.loader = loader
        self.log = log
    }

    /// Returns the configuration; errors are added to the log.
    func build(_ statements: [Statement]) -> Configuration {
        let repeated = ["login-config", "login", "realm", "role", "protect", "assert"]
        var block = Block(statements, of: "realms.conf", Self.keywords, repeated: repeated, at: .none, in: self)
        let isFile = text.name != ConfigurationLoader.nameOfCode
        if isFile { note(text.name, as: .settings, at: .none, in: text) }
        let contexts = LoginContextTable(files: block.all("login-config"), inline: block.all("login"), in: self)
        block.builder.realmNames = block.all("realm").compactMap { $0.arguments.first }.compactMap(expanded)
        let builder = block.builder
        var server = ServerSettings(
            listen: [Located(ServerSettings.Address(host: "127.0.0.1", port: 8443), in: text)],
            stateFolder: Located(RelativePath.resolve("var", beside: text.name), in: text)
        )
        block.first("server").map { ServerSettings.schema.read($0, into: &server, in: builder) }
        var passwords = PasswordSettings()
        block.first("passwords").map { PasswordSettings.schema.read($0, into: &passwords, in: builder) }
        let services = services(passwords: passwords, stateFolder: server.stateFolder.value, block: block)
        let linker = RealmLinker(
            builder: builder,
            contexts: contexts,
            services: services,
            stateFolderRange: server.stateFolder.isDefault ? nil : server.stateFolder.range
        )
        let realms = linker.link(block.all("realm"))
        let only = builder.realmNames.count == 1 && block.first("default-realm") == nil ? builder.realmNames[0] : nil
        let defaultRealm =
            block.word("default-realm").flatMap { knownName($0, as: "realm", among: builder.realmNames) } ?? only
        warnAboutUnavailable(signInOf: block.first("server"), of: realms)
        let roleReader = RoleReader(builder: builder, linked: realms)
        let roles = roleReader.read(block.all("role"))
        let rules = RuleReader(
            builder: builder,
            linked: realms,
            roles: roles,
            defaultRealm: defaultRealm,
            hasDefault: block.first("default-realm") != nil,
            server: server
        ).read(block.all("protect"))
        roleReader.warnAboutUnused(block.all("role"), in: block.all("protect"))
        // A realm with an error is not linked, so its entry is not known and would be reported as used by no realm.
        if realms.count == block.all("realm").count {
            contexts.warnAboutUnknownModules(known: loader.kinds, unlessUsedBy: realms)
        }
        // What is missing after an error would contradict an assertion.
        let assertions = block.all("assert")
        if !assertions.isEmpty, realms.count == block.all("realm").count,
            !log.diagnostics.contains(where: { $0.severity == .error })
        {
            let model = AccessModel(rules: rules, server: server, realms: realms)
            AssertionReader(builder: builder, model: model, realms: realms).check(assertions)
        }
        checkFiles(stateFolder: isFile || !server.stateFolder.isDefault ? server.stateFolder : nil)
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
            requiredGroups: log.groups,
            certificateFiles: log.files.filter { $0.use == .certificates }.map {
                Located($0.path, in: $0.text, at: $0.range)
            },
            warnings: log.diagnostics.filter { $0.severity == .warning },
            authenticator: Authenticator(realms)
        )
    }

    private func services(passwords: PasswordSettings, stateFolder: String, block: Block) -> RealmServices {
        do throws(HashFault) {
            return try loader.services?.services(for: passwords, stateFolder: stateFolder) ?? RealmServices.none
        } catch {
            let place = block.first("passwords")?.keyword.range
            self.error(at: place ?? .none, error.description, dependsOnOthers: place == nil)
            return .none
        }
    }

    /// Returns the name in a word; reports an unknown name with a hint about the known names.
    func knownName(_ word: RealmsConfWord, as kind: String, among names: [String]) -> String? {
        guard let name = expanded(word) else { return nil }
        if names.contains(name) { return name }
        let isClass = kind == "realm class"
        let known = isClass ? Self.hint(className: name, among: names) : Self.hint(name, among: names)
        let hint = names.isEmpty ? "add \(kind) \(name) { ... }" : known
        error(at: word.range, "there is no \(kind) \(name)", hint: hint, dependsOnOthers: !isClass)
        return nil
    }

    /// Returns the word with its references replaced; errors are added to the log.
    func expanded(_ word: RealmsConfWord) -> String? {
        do throws(Diagnostic) {
            let value = try word.expanded(by: expansion, in: text)
            noteReferences(as: .settings, at: word.range, in: text)
            log.hide(value, writtenAs: word.text, at: word.range, in: text)
            return value
        } catch {
            log.add(error)
            return nil
        }
    }

    /// Returns what `parse` makes of a word; nil if it rejects the word, which is reported.
    func value<Value>(of word: RealmsConfWord, _ parse: (String) throws(BadWord) -> Value) -> Value? {
        guard let text = expanded(word) else { return nil }
        do {
            return try parse(text)
        } catch {
            self.error(at: word.range, error.message, hint: error.hint)
            return nil
        }
    }

    // MARK: Unavailable realms

    /// Warns about a list of several realms without `when-unavailable`, if a realm that is not the last one depends on
    /// another system.
    func warnAboutUnavailable(_ names: [String], in statement: Statement, of linked: [BoundRealm]) {
        let dependent = names.dropLast().firstIndex { name in
            linked.contains { $0.name == name && $0.dependsOnOtherSystems }
        }
        guard let dependent, let word = statement.arguments.first else { return }
        let (first, next) = (names[dependent], names[dependent + 1])
        let message =
            "while realm \(first) is unavailable, realm \(next) decides, and its user of the same name may be another person"
        let hint =
            "write when-unavailable stop; to answer 503 in this case, or when-unavailable continue; if \(next) may decide"
        warn(at: word.range, message, hint: hint)
    }

    /// Warns about the realms of the `sign-in` block.
    private func warnAboutUnavailable(signInOf server: Statement?, of linked: [BoundRealm]) {
        guard case .block(let settings) = server?.body,
            case .block(let signIn) = settings.first(where: { $0.keyword.text == "sign-in" })?.body,
            let statement = signIn.first(where: { $0.keyword.text == "realm" }),
            !signIn.contains(where: { $0.keyword.text == "when-unavailable" })
        else { return }
        warnAboutUnavailable(statement.arguments.compactMap(expanded), in: statement, of: linked)
    }
}

// MARK: Messages

extension ConfigurationBuilder {
    /// Adds an error, which depends on others if a mistake in another statement may be the cause.
    func error(
        at range: SourceRange,
        _ message: String,
        hint: String? = nil,
        dependsOnOthers: Bool = false,
        showing place: ShownPlace = .ifKnown
    ) {
        guard !isAfterSecretName(range) else { return }
        let error = text.error(at: range, message, hint: hint, showing: place)
        log.add(error, dependsOnOthers: dependsOnOthers)
    }

    func warn(at range: SourceRange, _ message: String, hint: String? = nil) {
        guard !isAfterSecretName(range) else { return }
        log.add(text.warning(at: range, message, hint: hint))
    }

    /// Reports the missing `;` before the name of a secret, instead of a message about a place behind it.
    private func isAfterSecretName(_ range: SourceRange) -> Bool {
        guard let name = text.secretName(before: range) else { return false }
        let message = "a ; is missing before \(text.string(in: name))"
        log.add(text.error(at: name, message, hint: "quote it if it is meant as a value"))
        return true
    }

    func reportSecond(_ name: String, at range: SourceRange, first: SourceRange) {
        error(at: range, "a second \(name)", hint: "the first one is at \(text.place(of: first))")
    }

    /// Returns a hint for an unknown class of realms or modules: the most similar name, or all names without a package.
    ///
    /// For a class with a package, which is probably one of Java, it is what can replace the class.
    static func hint(className: String, among names: [String]) -> String? {
        if let nearest = NearestName.suggest(className, among: names) { return "did you mean \(nearest)?" }
        guard className.contains(".") else { return hint(className, among: names.filter { !$0.contains(".") }) }
        return "classes of Java cannot be run: write it in Swift (docs/custom-realm.md) or as a program "
            + "(docs/realms/exec.md), or use PAM (docs/realms/pam.md)"
    }

    /// Returns a hint for an unknown name: the most similar known name, or all known names.
    static func hint(_ name: String, among names: [String]) -> String? {
        if let nearest = NearestName.suggest(name, among: names) { return "did you mean \(nearest)?" }
        return "known names: \(names.isEmpty ? "none" : names.sorted().joined(separator: ", "))"
    }
}
