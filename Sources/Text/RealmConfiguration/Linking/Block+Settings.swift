// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import LoginConf
internal import RealmKit

// Settings that have one value; a variable keeps its value if the keyword is missing or its value has an error.

extension Block {
    func integer(_ keyword: String, _ bounds: ClosedRange<Int>, into value: inout Int) {
        guard case (_, .integer(let number))? = setting(keyword, as: .integer(bounds)) else { return }
        value = number
    }

    func duration(_ keyword: String, _ bounds: ClosedRange<Duration>, into value: inout Duration) {
        guard case (let word, .duration(let time))? = setting(keyword, as: .duration) else { return }
        guard bounds.contains(time) else {
            let (least, most) = (Self.text(bounds.lowerBound), Self.text(bounds.upperBound))
            return builder.error(at: word.range, "\(keyword) is a time from \(least) to \(most)")
        }
        value = time
    }

    /// Reads a number of bytes, as in `19MiB`.
    func size(_ keyword: String, _ bounds: ClosedRange<Int>, into value: inout Int) {
        guard let (word, text) = text(keyword) else { return }
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let units: [Substring: Int] = ["KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30]
        guard let number = Int(digits), let unit = units[text.dropFirst(digits.count)],
            case (let bytes, let overflow) = number.multipliedReportingOverflow(by: unit), !overflow,
            bounds.contains(bytes)
        else {
            let (least, most) = (Self.text(bytes: bounds.lowerBound), Self.text(bytes: bounds.upperBound))
            let message = "\(keyword) is a size from \(least) to \(most), as in 256MiB, not \(text)"
            return builder.error(at: word.range, message)
        }
        value = bytes
    }

    /// Reads one of the words of `Choice`.
    func choice<Choice: RawRepresentable & CaseIterable>(_ keyword: String, into value: inout Choice)
    where Choice.RawValue == String {
        guard let (word, text) = text(keyword) else { return }
        guard let choice = Choice(rawValue: text) else {
            let words = Choice.allCases.map(\.rawValue)
            let message = "\(keyword) is one of \(words.joined(separator: ", ")), not \(text)"
            let hint = NearestName.suggest(text, among: words).map { "did you mean \($0)?" }
            return builder.error(at: word.range, message, hint: hint)
        }
        value = choice
    }

    /// Reads `on` or `off`.
    func flag(_ keyword: String, into value: inout Bool) {
        guard let (word, text) = text(keyword) else { return }
        switch text {
        case "on": value = true
        case "off": value = false
        default: builder.error(at: word.range, "\(keyword) is on or off, not \(text)")
        }
    }

    private func setting(_ keyword: String, as kind: Property.Kind) -> (RealmsConfWord, PropertyValue)? {
        guard let (word, text) = text(keyword) else { return nil }
        do throws(BadValue) {
            return (word, try PropertyValue([text], as: kind))
        } catch {
            builder.error(at: word.range, "\(keyword) \(error)")
            return nil
        }
    }

    /// Returns a size as text, in the largest unit that gives a whole number.
    static func text(bytes: Int) -> String {
        for (unit, size) in [("GiB", 1 << 30), ("MiB", 1 << 20)] where bytes % size == 0 {
            return "\(bytes / size)\(unit)"
        }
        return "\(bytes >> 10)KiB"
    }

    private static func text(_ time: Duration) -> String {
        let seconds = time.components.seconds
        if seconds == 0 { return "\(time.components.attoseconds / 1_000_000_000_000_000)ms" }
        return seconds % 3600 == 0 ? "\(seconds / 3600)h" : "\(seconds)s"
    }
}

// MARK: Texts with translations

extension Block {
    /// Reads a text and its translations: the statements `KEYWORD TEXT;` and `KEYWORD LANGUAGE TEXT;`.
    ///
    /// It is nil if there is no statement, or if one has an error. `value` reports a text that is not allowed.
    func localizedText(
        _ keyword: String,
        for translations: Translations,
        value: (RealmsConfWord) -> String?
    ) -> LocalizedText? {
        var standard: (place: SourceRange, text: String?)?
        var texts: [String: String] = [:]
        var places: [String: SourceRange] = [:]
        for statement in all(keyword) {
            guard builder.hasNoBlock(statement) else { continue }
            let (place, words) = (statement.keyword.range, statement.arguments)
            guard let last = words.last, words.count <= 2, words.dropFirst().allSatisfy({ !$0.beginsLine }) else {
                builder.reportCount(of: statement, expected: "one text, or a language and a text")
                continue
            }
            guard words.count == 2 else {
                if let first = standard?.place {
                    builder.reportSecond(keyword, at: place, first: first)
                } else {
                    standard = (place, value(last))
                }
                continue
            }
            guard let tag = language(words[0], among: translations) else { continue }
            if let first = places[tag] {
                builder.reportSecond("\(keyword) \(tag)", at: place, first: first)
                continue
            }
            places[tag] = place
            texts[tag] = value(last)
        }
        guard let standard else {
            if let statement = first(keyword), !texts.isEmpty {
                let hint = "add \(keyword) TEXT; without a language"
                builder.error(at: statement.keyword.range, "\(keyword) has no text for all other languages", hint: hint)
            }
            return nil
        }
        return standard.text.map { LocalizedText($0, translations: texts) }
    }

    /// Returns the tag of a language of the pages in lower case; reports any other word.
    private func language(_ word: RealmsConfWord, among translations: Translations) -> String? {
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
}
