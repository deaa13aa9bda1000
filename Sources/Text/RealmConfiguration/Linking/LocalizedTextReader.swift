// SPDX-License-Identifier: Apache-2.0

internal import LoginConf

/// Reads a text of the configuration and its translations: the statements `KEYWORD TEXT;` and `KEYWORD LANGUAGE TEXT;`.
struct LocalizedTextReader {
    let builder: ConfigurationBuilder
    /// The languages of the pages.
    let translations: Translations

    /// Reads the statements of a keyword.
    ///
    /// - Parameters:
    ///   - keyword: The keyword.
    ///   - block: The block, in which the keyword may be repeated.
    ///   - value: Returns the text of a word; reports a text that is not allowed.
    /// - Returns: The text; nil if there is no statement, or if a statement has an error.
    func read(
        _ keyword: String,
        in block: Block,
        value: (RealmsConfWord) -> String?
    ) -> LocalizedText? {
        var standard: (place: RealmsConfWord, text: String?)?
        var texts: [String: String] = [:]
        var places: [String: RealmsConfWord] = [:]
        for statement in block.all(keyword) {
            guard builder.hasNoBlock(statement) else { continue }
            let words = statement.arguments
            guard let last = words.last, words.count <= 2, words.dropFirst().allSatisfy({ !$0.beginsLine }) else {
                builder.reportCount(of: statement, expected: "one text, or a language and a text")
                continue
            }
            guard words.count == 2 else {
                if let first = standard?.place {
                    report(second: keyword, at: statement.keyword, first: first)
                } else {
                    standard = (statement.keyword, value(last))
                }
                continue
            }
            guard let tag = language(words[0]) else { continue }
            if let first = places[tag] {
                report(second: "\(keyword) \(tag)", at: statement.keyword, first: first)
                continue
            }
            places[tag] = statement.keyword
            texts[tag] = value(last)
        }
        guard let standard else {
            if let statement = block.first(keyword), !texts.isEmpty {
                let hint = "add \(keyword) TEXT; without a language"
                builder.error(at: statement.keyword.range, "\(keyword) has no text for all other languages", hint: hint)
            }
            return nil
        }
        return standard.text.map { LocalizedText($0, translations: texts) }
    }

    /// Returns the tag of a language of the pages in lower case; reports any other word.
    private func language(_ word: RealmsConfWord) -> String? {
        guard let text = builder.expanded(word) else { return nil }
        let tag = text.lowercased()
        guard TranslationReader.isLanguageTag(tag) else {
            let hint = "as in: de, pt-BR; quote a text that holds blanks"
            builder.error(at: word.range, "\(text) is not the tag of a language", hint: hint)
            return nil
        }
        let languages = translations.all.map(\.language)
        // A text in pt is for the pages in pt-br, too.
        guard languages.contains(where: { $0.utf8.elementsEqual(tag.utf8) || $0.utf8.starts(with: "\(tag)-".utf8) })
        else {
            let nearest = ConfigurationBuilder.hint(tag, among: languages) ?? ""
            let hint = "\(nearest); quote a text that holds blanks"
            builder.error(at: word.range, "there are no pages in the language \(text)", hint: hint)
            return nil
        }
        return tag
    }

    private func report(second name: String, at word: RealmsConfWord, first: RealmsConfWord) {
        let hint = "the first one is at \(builder.text.place(of: first.range))"
        builder.error(at: word.range, "a second \(name)", hint: hint)
    }
}
