// SPDX-License-Identifier: Apache-2.0

internal import LoginConf
internal import RealmKit

/// Creates realms from their blocks, and links them with their stacks.
struct RealmLinker {
    let builder: ConfigurationBuilder
    let contexts: LoginContextTable
    let services: RealmServices
    /// The place of the `state` statement, or of the `server` block if the statement is missing; nil without a block.
    let stateFolderRange: SourceRange?

    /// The statements that the blocks of all classes have.
    static let keywords = ["class", "assign-groups", "group-mapping", "cache"]

    /// Returns the realms without errors in the order of the file; a realm that another realm refers to is created first.
    func link(_ statements: [Statement]) -> [BoundRealm] {
        var declarations: [RealmDeclaration] = []
        for statement in statements {
            guard let (word, block) = builder.wordAndBlock(statement), let name = realmName(word) else { continue }
            if let earlier = declarations.last(where: { $0.name == name }) {
                builder.reportSecond("realm \(name)", at: word.range, first: earlier.word.range)
            }
            declarations.append(RealmDeclaration(name: name, word: word, block: block))
        }
        let references = RealmReferences(declarations, builder: builder, make: realm)
        return declarations.indices.compactMap(references.realm)
    }

    /// Returns the name of a realm; reports a name that is not safe to send to clients or to log.
    private func realmName(_ word: RealmsConfWord) -> String? {
        guard let name = builder.expanded(word) else { return nil }
        guard name.unicodeScalars.allSatisfy({ $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }), !name.isEmpty
        else {
            builder.error(at: word.range, "a realm's name must not be empty or contain control characters")
            return nil
        }
        if !name.unicodeScalars.allSatisfy(\.isASCII) {
            let hint = "RFC 7617 does not define how clients decode other characters in a challenge"
            builder.warn(at: word.range, "the realm's name is not ASCII", hint: hint)
        }
        return name
    }

    private func realm(_ declaration: RealmDeclaration, references: RealmReferences) -> BoundRealm? {
        let (name, nameWord) = (declaration.name, declaration.word)
        let block = Block.separated(declaration.block, by: Self.keywords, in: builder)
        guard let statement = block.first(where: { $0.keyword.text == "class" }) else {
            builder.error(at: nameWord.range, "realm \(name) has no class", hint: "as in: class StartWithRealm;")
            return nil
        }
        let classNames = builder.loader.kinds.flatMap(\.classNames)
        guard let classWord = builder.singleWord(statement),
            let className = builder.knownName(classWord, as: "realm class", among: classNames),
            let kind = builder.loader.kinds.first(where: { $0.classNames.contains(className) })
        else { return nil }
        if let hint = kind.buildHint {
            builder.error(at: classWord.range, "\(className) is not built into this program", hint: hint)
            return nil
        }
        let article = className.first.map { "AEIOU".contains($0) } == true ? "an" : "a"
        let keywords = Self.keywords + kind.properties.properties.map(\.name)
        let reader = Block(block, of: "\(article) \(className)", keywords, at: nameWord.range, in: builder)
        let groups = reader.first("assign-groups").map { builder.userOrGroupNames(builder.list($0)[...]) } ?? []
        let mapping = mapping(reader.first("group-mapping"))
        guard let values = values(in: reader, schema: kind.properties, references: references) else { return nil }
        guard let realm = make(kind, of: declaration, values: values, block: reader) else { return nil }
        for warning in realm.warnings {
            let words = reader.first(warning.setting)?.arguments ?? []
            let place = words.indices.contains(warning.word) ? words[warning.word].range : nameWord.range
            let message = "realm \(name): \(warning.setting): \(warning.message)"
            builder.warn(at: place, message, hint: warning.hint)
        }
        guard
            let stack = stackWithoutContext(of: realm, kind: kind, name: name, block: reader)
                ?? stack(of: realm, kind: kind, declaration: declaration, block: reader)
        else { return nil }
        var bound = BoundRealm(
            name: name,
            className: className,
            realm: realm,
            stack: stack,
            assignedGroups: groups,
            groupMapping: mapping
        )
        bound.settings = values.configurationTexts(of: kind.properties, in: RelativePath.folder(of: builder.text.name))
        bound.nested = Self.nested(in: values)
        if let statement = reader.first("cache") {
            var times = CacheTimes(lifetime: .seconds(60), staleTime: .zero)
            CacheTimes.schema.read(statement, into: &times, in: builder)
            bound.cacheTimes = times
        }
        return bound
    }

    /// Returns the realms that the values refer to, each once.
    private static func nested(in values: [String: PropertyValue]) -> [BoundRealm] {
        var nested: [BoundRealm] = []
        for (_, value) in values.sorted(by: { $0.key < $1.key }) {
            guard case .realms(let realms) = value else { continue }
            for realm in realms where !nested.contains(where: { $0.name == realm.name }) {
                nested.append(realm)
            }
        }
        return nested
    }

    private func mapping(_ statement: Statement?) -> GroupMapping {
        guard let statement else { return .none }
        do throws(BadValue) {
            return try GroupMapping(rules: builder.words(statement).compactMap(builder.expanded))
        } catch {
            let message = "group-mapping \(error)"
            builder.error(at: statement.valueRange, message)
            return .none
        }
    }

    // MARK: Properties

    private func values(
        in block: Block,
        schema: PropertySchema,
        references: RealmReferences
    ) -> [String: PropertyValue]? {
        var values: [String: PropertyValue] = [:]
        var isComplete = true
        for property in schema.properties {
            guard let statement = block.first(property.name) else { continue }
            values[property.name] = value(of: property, in: statement, references: references)
            if values[property.name] == nil { isComplete = false }
        }
        return isComplete ? values : nil
    }

    private func value(of property: Property, in statement: Statement, references: RealmReferences) -> PropertyValue? {
        if property.kind == .realm {
            return builder.singleWord(statement).flatMap { references.value([$0], of: property.name) }
        }
        let words = builder.words(statement)
        guard let first = words.first else { return nil }
        if property.kind == .realms { return references.value(words, of: property.name) }
        if property.kind == .secret { return secret(of: property, in: words) }
        let texts = words.compactMap(builder.expanded)
        guard texts.count == words.count else { return nil }
        do throws(BadValue) {
            let value = try PropertyValue(texts, as: property.kind)
            if let path = RelativePath.path(in: value, of: property), !builder.isPlainPath(path, at: first) {
                return nil
            }
            return builder.resolved(value, of: property, at: first.range, in: builder.text)
        } catch {
            let message = "\(property.name) \(error)"
            if let next = words.dropFirst().first(where: \.beginsLine) {
                builder.reportMissingSemicolon(before: next, hint: message)
            } else {
                builder.error(at: first.range, message)
            }
            return nil
        }
    }

    private func secret(of property: Property, in words: [RealmsConfWord]) -> PropertyValue? {
        guard let word = words.first, words.count == 1 else {
            let message = "\(property.name) takes one value"
            builder.error(at: words[1].range, message, hint: "quote it if it holds blanks", showing: .never)
            return nil
        }
        do throws(Diagnostic) {
            return .secret(Secret(try builder.secret(word)))
        } catch {
            builder.log.add(error)
            return nil
        }
    }

    // MARK: The realm and its stack

    private func make(
        _ kind: RealmKind,
        of declaration: RealmDeclaration,
        values: [String: PropertyValue],
        block: Block
    ) -> (any Realm)? {
        let (name, range) = (declaration.name, declaration.word.range)
        do throws(BadRealm) {
            let schema = kind.properties
            return try kind.makeRealm(RealmProperties(values, schema: schema, realmName: name, services: services))
        } catch {
            if error.isAboutStateFolder {
                // All realms have the same error; the log drops duplicates.
                let hint = stateFolderRange == nil ? "set another folder with server { state FOLDER; }" : nil
                let place = stateFolderRange ?? range
                builder.error(at: place, error.message, hint: hint, dependsOnOthers: stateFolderRange == nil)
                return nil
            }
            let statement = error.setting.flatMap { block.first($0) }
            let place = statement?.arguments.first?.range ?? range
            // A property without a value is a mistake in the file; a value may be one that this machine does not have.
            let isMissing = error.setting.map { values[$0] == nil && kind.properties[$0]?.defaultText == nil } ?? false
            if builder.loader.isForProof, !isMissing {
                builder.warn(at: place, "realm \(name): \(error)", hint: error.hint)
                return UncreatedRealm(values, kind.properties)
            }
            builder.error(at: place, "realm \(name): \(error)", hint: error.hint)
            return nil
        }
    }

    /// Returns the stack of a realm that needs no login context and has none; nil if the realm has a login context.
    private func stackWithoutContext(of realm: any Realm, kind: RealmKind, name: String, block: Block) -> LoginStack? {
        guard kind.type.isUsableWithoutContext, block.first("jaas-context") == nil, let module = kind.modules.first,
            contexts.isComplete, !contexts.hasEntry(realm.jaasContext)
        else { return nil }
        if realm is UncreatedRealm, let name = module.names.first {
            let (table, control) = (ActionTable(.required), ControlFlag.required.rawValue)
            let entry = LoginStack.Entry.unlinked(
                name,
                table,
                control: control,
                level: 0,
                namesUsers: module.namesUsers
            )
            return LoginStack(name: realm.jaasContext, [entry], clock: builder.loader.clock)
        }
        // Without the module there is no stack, and the missing login context is reported.
        guard let options = try? ModuleOptions(schema: module.options, realmName: name, services: services),
            let made = try? module.makeModule(realm: realm, options: options)
        else { return nil }
        return LoginStack(name: realm.jaasContext, [LoginStack.Entry(made, .required)], clock: builder.loader.clock)
    }

    private func stack(
        of realm: any Realm,
        kind: RealmKind,
        declaration: RealmDeclaration,
        block: Block
    ) -> LoginStack? {
        let (name, context) = (declaration.name, realm.jaasContext)
        let place = block.first("jaas-context")?.arguments.first?.range ?? declaration.word.range
        guard let entry = contexts.entry(context) else {
            // The entry may be in a file that could not be read. That error has been reported.
            guard contexts.isComplete else { return nil }
            let message = "realm \(name): there is no login context \(context)"
            let hint = contexts.hint(context, module: kind.modules.first?.names.first)
            builder.error(at: place, message, hint: hint, dependsOnOthers: true)
            return nil
        }
        if !entry.name.utf8.elementsEqual(context.utf8) {
            let message = "realm \(name): there is no login context \(context), so \(entry.name) is used"
            builder.warn(at: place, message, hint: contexts.hint(context))
        }
        return ModuleLinker(builder: builder, realm: realm, realmName: name, services: services).stack(entry)
    }
}

/// A realm that could not be created, for a proof.
struct UncreatedRealm: Realm {
    static let properties: PropertySchema = []
    let jaasContext: String
    var authType: String { "" }

    init(_ values: [String: PropertyValue], _ schema: PropertySchema) {
        let standard = schema["jaas-context"]?.defaultText ?? ""
        if case .string(let context)? = values["jaas-context"] { jaasContext = context } else { jaasContext = standard }
    }

    init(_ properties: RealmProperties) throws(BadRealm) { throw BadRealm("is not created") }
}
