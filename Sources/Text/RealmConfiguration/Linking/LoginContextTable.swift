// SPDX-License-Identifier: Apache-2.0

internal import Files
internal import LoginConf
internal import RealmKit

/// All login contexts of a configuration: the entries of its login.conf files and its `login` blocks.
struct LoginContextTable {
    /// A login context and the text that contains it.
    struct Entry {
        let name: String
        let nameRange: SourceRange
        let modules: [ModuleEntry]
        let text: SourceText
        /// True for a `login` block of realms.conf, false for an entry of a login.conf.
        let isInline: Bool
        /// The stacks of a service of PAM, which are used instead of the modules: `auth`, and then `account`.
        var pam: [PAMStack] = []

        var place: String { text.place(of: nameRange) }
    }

    private let builder: ConfigurationBuilder
    private(set) var entries: [Entry] = []
    private var names = LoginContextNames()
    private(set) var files: [String] = []
    /// True if every file could be read and parsed.
    private(set) var isComplete = true

    init(files statements: [Statement], inline: [Statement], in builder: ConfigurationBuilder) {
        self.builder = builder
        for statement in statements {
            for word in builder.list(statement) { addFile(word) }
        }
        for statement in inline { addInline(statement) }
    }

    private mutating func addFile(_ word: RealmsConfWord) {
        guard let path = builder.filePath(word, as: .settings),
            let bytes = builder.contents(of: path, at: word.range)
        else {
            isComplete = false
            return
        }
        let text = SourceText(name: path, bytes: bytes, names: builder.text.names)
        let expansion = builder.loader.expansion(for: builder.text.name)
        let parsed = LoginConf.parse(text, expansion: expansion, names: &names)
        builder.log.add(parsed.diagnostics)
        if parsed.hasErrors { isComplete = false }
        files.append(path)
        entries += parsed.partial.entries.map { entry in
            Entry(name: entry.name, nameRange: entry.nameRange, modules: entry.modules, text: text, isInline: false)
        }
    }

    private mutating func addInline(_ statement: Statement) {
        if case .block(let block) = statement.body, block.first?.keyword.text == RealmsConf.pamFile {
            return addPAM(statement, block: block)
        }
        if case .block = statement.body {
            // The `;` before `login` is missing, so the parser read the block as statements. It has reported the error.
            isComplete = false
            return
        }
        guard case .login(let modules) = statement.body, let word = statement.arguments.first,
            statement.arguments.count == 1
        else {
            let hint = "as in: login myContext { StartWithLoginModule required; }"
            builder.error(at: statement.keyword.range, "login takes a name and a block of modules", hint: hint)
            return
        }
        addInline(word, modules: modules)
    }

    private mutating func addInline(_ word: RealmsConfWord, modules: [ModuleEntry] = [], pam: [PAMStack] = []) {
        if let duplicate = names.add(word.text, at: word.range, in: builder.text) { builder.log.add(duplicate) }
        entries.append(
            Entry(
                name: word.text,
                nameRange: word.range,
                modules: modules,
                text: builder.text,
                isInline: true,
                pam: pam
            )
        )
    }

    /// Adds a `login` block whose modules are in a file of PAM.
    private mutating func addPAM(_ statement: Statement, block statements: [Statement]) {
        let block = Block(statements, of: "login", ["pam-file"], at: statement.keyword.range, in: builder)
        guard let name = statement.arguments.first, statement.arguments.count == 1,
            let file = block.first(RealmsConf.pamFile).flatMap(builder.singleWord),
            let path = builder.filePath(file, as: .users),
            let stacks = builder.pamStacks(path, named: file)
        else {
            isComplete = false
            if statement.arguments.count != 1 {
                let hint = "as in: login myContext { pam-file /etc/pam.d/gatehouse; }"
                builder.error(at: statement.keyword.range, "a `login` block has one name", hint: hint)
            }
            return
        }
        addInline(name, pam: stacks)
    }

    func hasEntry(_ name: String) -> Bool { entries.contains { $0.name.utf8.elementsEqual(name.utf8) } }

    /// Returns the entry with a name; if there is no such entry, returns the entry `other`, as in JAAS.
    func entry(_ name: String) -> Entry? {
        // Names are compared byte by byte, as in `LoginContextNames`.
        entries.first { $0.name.utf8.elementsEqual(name.utf8) } ?? entries.first { $0.name == "other" }
    }

    /// Returns a hint for a name that has no entry: the most similar name, the known names, or an entry to write with
    /// the module of the realm.
    func hint(_ name: String, module: String? = nil) -> String {
        let paths = files.joined(separator: ", ")
        let read = files.isEmpty ? "no login-config file is set" : "login-config files: \(paths)"
        guard !entries.isEmpty else {
            guard let module, name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
                return "there are no login contexts; \(read)"
            }
            return "add login \(name) { \(module) required; }  (there are no login contexts; \(read))"
        }
        let hint = ConfigurationBuilder.hint(name, among: entries.map(\.name))
        return [hint, read].compactMap(\.self).joined(separator: "; ")
    }

    /// Warns about unknown modules in entries that no realm uses.
    ///
    /// An unknown module there is not an error, because the file may contain entries for other programs.
    func warnAboutUnknownModules(known kinds: [RealmKind], unlessUsedBy realms: [BoundRealm]) {
        let known = Set(kinds.flatMap(\.modules).flatMap(\.names))
        for entry in entries where !realms.contains(where: { $0.stack.name == entry.name }) {
            for module in entry.modules where !known.contains(module.className) {
                let message = "there is no login module \(module.className); no realm uses this entry"
                builder.log.add(entry.text.warning(at: module.classRange, message))
            }
        }
    }

    func summary(_ realms: [BoundRealm]) -> [Configuration.Context] {
        entries.map { entry in
            Configuration.Context(
                name: entry.name,
                place: entry.place,
                modules: entry.modules.map { .init(name: $0.className, flag: $0.flag, control: $0.control) }
                    + entry.pam.flatMap(\.modules).map {
                        .init(name: $0.name, flag: .required, control: $0.control.text)
                    },
                realms: realms.filter { $0.stack.name == entry.name }.map(\.name)
            )
        }
    }
}
