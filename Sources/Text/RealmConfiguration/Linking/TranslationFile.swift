// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Files
internal import LoginConf

extension Block {
    /// Reads the `translation` statements and their files.
    func translations() -> Translations {
        var known = Translations.builtIn
        for statement in all("translation") { readTranslation(statement, into: &known) }
        if known.count > Translations.maximumCount, let statement = first("translation") {
            builder.error(at: statement.keyword.range, "more than \(Translations.maximumCount) translations")
        }
        return Translations(known)
    }

    /// Reads the `languages` statement.
    func languages(among known: Translations) -> Translations {
        let tags = known.all.map(\.language)
        let chosen = list("languages", isUnique: true) { text throws(BadWord) in
            let tag = text.lowercased()
            if tags.contains(tag) { return tag }
            let nearest = ConfigurationBuilder.hint(tag, among: tags) ?? ""
            let hint = "\(nearest); another language needs a file, as in: translation \(tag) \(tag).conf;"
            throw BadWord("there is no translation for \(tag)", hint: hint)
        }
        return Translations(chosen.compactMap { tag in known.all.first { $0.language == tag.value } })
    }

    /// Reads a `translation` statement and its file.
    ///
    /// The file changes a translation that exists. For a new language, texts that the file lacks are in English.
    private func readTranslation(_ statement: Statement, into known: inout [Translation]) {
        let words = builder.words(statement)
        let hint = "as in: translation it it.conf;"
        guard words.count == 2 else {
            if !words.isEmpty {
                builder.error(at: statement.keyword.range, "translation takes a language and a file", hint: hint)
            }
            return
        }
        guard let tag = builder.expanded(words[0])?.lowercased(), let name = builder.filePath(words[1], as: .settings)
        else { return }
        guard LanguageTag.isValid(tag) else {
            builder.error(at: words[0].range, "\(tag) is not the tag of a language", hint: hint)
            return
        }
        guard let bytes = builder.contents(of: name, at: words[1].range, as: "the translation") else { return }
        let index = known.firstIndex { $0.language.utf8.elementsEqual(tag.utf8) }
        var translation = index.map { known[$0] } ?? Translation(language: tag, copying: .english)
        let keys = MessageKey.allCases
        let names = KnownNames(harmless: Set(keys.map(\.rawValue)))
        let text = SourceText(name: name, bytes: bytes, names: names)
        let parsed = RealmsConf.parse(text)
        builder.log.add(parsed.diagnostics)
        let file = Block(
            parsed.partial,
            of: "the translation",
            keys.map(\.rawValue),
            at: .none,
            in: ConfigurationBuilder(text, loader: builder.loader, log: builder.log)
        )
        for key in keys {
            let text = file.word(key.rawValue) { text throws(BadWord) in try Self.translated(text, for: key) }
            if let text { translation.replace(key, by: text) }
        }
        let missing = keys.filter { file.first($0.rawValue) == nil }
        translation.addFile(name, lacking: missing)
        if let index { known[index] = translation } else { known.append(translation) }
        if index == nil, !missing.isEmpty {
            let shown = missing.prefix(3).map(\.rawValue).joined(separator: ", ")
            let rest = missing.count > 3 ? " and \(missing.count - 3) more" : ""
            let message = "the translation to \(tag) has no text for \(shown)\(rest); these texts are in English"
            builder.warn(at: words[1].range, message)
        }
    }

    /// Returns a text that pages may show, and that has the placeholders of the English text.
    private static func translated(_ text: String, for key: MessageKey) throws(BadWord) -> String {
        _ = try ShownText.reader(of: key.rawValue, maximum: 500)(text)
        if key == .direction, text != "ltr", text != "rtl" { throw BadWord("direction is ltr or rtl") }
        let expected = Placeholder.names(in: Translation.english[key])
        let found = Placeholder.names(in: text)
        if let unknown = found.first(where: { !expected.contains($0) }) {
            let known = ConfigurationBuilder.hint(unknown, among: expected)
            throw BadWord(
                "unknown placeholder {\(unknown)}",
                hint: expected.isEmpty ? "this text has no placeholders" : known
            )
        }
        if let lacking = expected.first(where: { !found.contains($0) }) {
            throw BadWord("the text lacks the placeholder {\(lacking)}")
        }
        return text
    }
}

enum LanguageTag {
    /// Returns true for a tag in the form of RFC 5646: a language of two or more letters, and further parts.
    static func isValid(_ tag: String) -> Bool {
        let parts = tag.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard tag.utf8.count <= 35, let language = parts.first, (2...8).contains(language.count),
            language.allSatisfy({ (0x61...0x7A).contains($0) })
        else { return false }
        return parts.dropFirst().allSatisfy { part in
            (1...8).contains(part.count)
                && part.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) }
        }
    }
}
