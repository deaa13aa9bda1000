// SPDX-License-Identifier: Apache-2.0

internal import Bytes
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
        let isInline: Bool

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
        guard let path = builder.filePath(word, as: .settings) else {
            isComplete = false
            return
        }
        switch builder.loader.files.read(path) {
        case .failure(let fault):
            builder.error(at: word.range, "\(path) cannot be read: \(fault.reason)")
            isComplete = false
        case .success(let contents):
            let text = SourceText(name: path, bytes: contents.bytes, secretNames: builder.loader.secretNames)
            let parsed = LoginConf.parse(
                text,
                expansion: builder.loader.expansion(for: builder.text.name),
                names: &names
            )
            builder.log.add(parsed.diagnostics)
            if parsed.hasErrors { isComplete = false }
            files.append(path)
            entries += parsed.partial.entries.map { entry in
                Entry(name: entry.name, nameRange: entry.nameRange, modules: entry.modules, text: text, isInline: false)
            }
        }
    }

    private mutating func addInline(_ statement: Statement) {
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
        if let duplicate = names.add(word.text, at: word.range, in: builder.text) { builder.log.add(duplicate) }
        entries.append(
            Entry(name: word.text, nameRange: word.range, modules: modules, text: builder.text, isInline: true)
        )
    }

    /// Returns whether there is an entry with a name.
    func hasEntry(_ name: String) -> Bool { entries.contains { $0.name.utf8.elementsEqual(name.utf8) } }

    /// Returns the entry with a name; if there is no such entry, returns the entry `other`, as in JAAS.
    func entry(_ name: String) -> Entry? {
        // Names are compared byte by byte, as in `LoginContextNames`.
        entries.first { $0.name.utf8.elementsEqual(name.utf8) } ?? entries.first { $0.name == "other" }
    }

    /// Returns a hint for a name that has no entry.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - module: The module of the realm; nil if it is not known.
    /// - Returns: The most similar name, the known names, or an entry to write.
    func hint(_ name: String, module: String? = nil) -> String {
        let paths = files.joined(separator: ", ")
        let read = files.isEmpty ? "no login-config file is set" : "login-config files: \(paths)"
        guard !entries.isEmpty else {
            guard let module, name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
                return "there are no login contexts; \(read)"
            }
            return "add login \(name) { \(module) required; }  (there are no login contexts; \(read))"
        }
        return [ConfigurationBuilder.hint(name, among: entries.map(\.name)), read].compactMap(\.self).joined(
            separator: "; "
        )
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
                modules: entry.modules.map {
                    Configuration.Context.Module(name: $0.className, flag: $0.flag, control: $0.control)
                },
                realms: realms.filter { $0.stack.name == entry.name }.map(\.name)
            )
        }
    }
}
