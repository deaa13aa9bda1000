// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import LoginConf
internal import RealmKit

/// Makes realms of their blocks and binds them to their stacks.
struct RealmLinker {
    let linker: Linker
    let contexts: ContextTable
    let services: RealmServices

    func link(_ statements: [Statement]) -> [BoundRealm] {
        var realms: [BoundRealm] = []
        var places: [String: SourceRange] = [:]
        for statement in statements {
            guard let (word, block) = linker.named(statement), let name = realmName(word) else { continue }
            if let earlier = places[name] {
                let hint = "the first one is at \(linker.text.place(of: earlier))"
                linker.error(word.range, "a second realm \(name)", hint: hint)
            }
            places[name] = word.range
            if let realm = realm(name, word, block) { realms.append(realm) }
        }
        return realms
    }

    /// A realm's name is shown to clients and written to logs.
    private func realmName(_ word: Word) -> String? {
        guard let name = linker.expanded(word) else { return nil }
        guard name.unicodeScalars.allSatisfy({ $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }), !name.isEmpty
        else {
            linker.error(word.range, "a realm's name is not empty and holds no control characters")
            return nil
        }
        if !name.unicodeScalars.allSatisfy(\.isASCII) {
            let hint = "RFC 7617 leaves open how clients read other characters in a challenge"
            linker.log.add(linker.text.warning(at: word.range, "the realm's name is not ASCII", hint: hint))
        }
        return name
    }

    private func realm(_ name: String, _ nameWord: Word, _ statements: [Statement]) -> BoundRealm? {
        let common = ["class", "assign-groups", "group-mapping"]
        let block = Block.separated(statements, by: common, in: linker)
        guard let statement = block.first(where: { $0.keyword.text == "class" }) else {
            linker.error(nameWord.range, "realm \(name) has no class", hint: "as in: class StartWithRealm;")
            return nil
        }
        let classNames = linker.loader.kinds.flatMap(\.classNames)
        guard let classWord = linker.oneWord(statement),
            let className = linker.known(classWord, "realm class", among: classNames),
            let kind = linker.loader.kinds.first(where: { $0.classNames.contains(className) })
        else { return nil }
        let reader = Block(
            block,
            of: "a \(className)",
            common + kind.properties.properties.map(\.name),
            in: linker
        )
        let groups = reader.once("assign-groups").map { linker.words($0).compactMap(linker.expanded) } ?? []
        let mapping = mapping(reader.once("group-mapping"))
        guard let values = values(reader, kind.properties) else { return nil }
        guard let realm = make(kind, values, name, nameWord, reader) else { return nil }
        guard let stack = stack(of: realm, name, nameWord, reader) else { return nil }
        var bound = BoundRealm(
            name: name,
            className: className,
            realm: realm,
            stack: stack,
            assignedGroups: groups,
            groupMapping: mapping
        )
        bound.settings = values.definitions
        return bound
    }

    private func mapping(_ statement: Statement?) -> GroupMapping {
        guard let statement else { return .none }
        do throws(BadValue) {
            return try GroupMapping(rules: linker.words(statement).compactMap(linker.expanded))
        } catch {
            linker.error(statement.arguments.first?.range ?? statement.keyword.range, "group-mapping \(error)")
            return .none
        }
    }

    private func values(_ block: Block, _ schema: PropertySchema) -> [String: PropertyValue]? {
        var values: [String: PropertyValue] = [:]
        var isComplete = true
        for property in schema.properties {
            guard let statement = block.once(property.name) else { continue }
            if let value = value(statement, property) {
                values[property.name] = value
            } else {
                isComplete = false
            }
        }
        return isComplete ? values : nil
    }

    private func value(_ statement: Statement, _ property: Property) -> PropertyValue? {
        let words = linker.words(statement)
        guard let first = words.first else { return nil }
        if case .secret = property.kind { return secret(words, property) }
        let texts = words.compactMap(linker.expanded)
        guard texts.count == words.count else { return nil }
        do throws(BadValue) {
            let value = try PropertyValue(texts, as: property.kind)
            if case .path = property.kind, case .string(let path) = value {
                return .string(FilePath.resolve(path, beside: linker.text.name))
            }
            return value
        } catch {
            if let next = words.dropFirst().first(where: \.beginsLine) {
                let hint = "\(property.name) \(error)"
                linker.error(next.range, "a ; is missing before \(next.text)", hint: hint)
            } else {
                linker.error(first.range, "\(property.name) \(error)")
            }
            return nil
        }
    }

    /// A secret goes from the file to its ``Secret`` without becoming a `String`.
    private func secret(_ words: [Word], _ property: Property) -> PropertyValue? {
        guard let word = words.first, words.count == 1 else {
            linker.error(words[1].range, "\(property.name) takes one value", hint: "quote it if it holds blanks")
            return nil
        }
        do throws(Diagnostic) {
            return .secret(Secret(try word.expandedBytes(by: linker.expansion, in: linker.text)))
        } catch {
            linker.log.add(error)
            return nil
        }
    }

    private func make(
        _ kind: RealmKind,
        _ values: [String: PropertyValue],
        _ name: String,
        _ nameWord: Word,
        _ block: Block
    ) -> (any Realm)? {
        do throws(BadRealm) {
            return try kind.makeRealm(
                RealmProperties(values, schema: kind.properties, realmName: name, services: services)
            )
        } catch {
            let statement = error.setting.flatMap { block.once($0) }
            let place = statement?.arguments.first?.range ?? nameWord.range
            linker.error(place, "realm \(name): \(error)")
            return nil
        }
    }

    private func stack(of realm: any Realm, _ name: String, _ nameWord: Word, _ block: Block) -> LoginStack? {
        let context = realm.jaasContext
        guard let entry = contexts.entry(context) else {
            // An entry may be missing because its file could not be read, which has been said.
            guard contexts.isComplete else { return nil }
            let place = block.once("jaas-context")?.arguments.first?.range ?? nameWord.range
            linker.error(place, "realm \(name): there is no login context \(context)", hint: contexts.hint(context))
            return nil
        }
        if !entry.name.utf8.elementsEqual(context.utf8) {
            let place = block.once("jaas-context")?.arguments.first?.range ?? nameWord.range
            let message = "realm \(name): there is no login context \(context), so \(entry.name) is used"
            linker.log.add(linker.text.warning(at: place, message, hint: contexts.hint(context)))
        }
        return ModuleLinker(linker: linker, realm: realm, realmName: name, services: services).stack(entry)
    }
}
