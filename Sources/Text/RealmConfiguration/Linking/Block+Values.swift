// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Files
internal import LoginConf
internal import RealmKit

/// The mistake in a word of a statement.
struct BadWord: Error {
    let message: String
    let hint: String?

    init(_ message: String, hint: String? = nil) {
        self.message = message
        self.hint = hint
    }
}

// MARK: Words, lists and files

extension Block {
    /// Returns the word of a statement that takes one word and no block.
    func word(_ keyword: String) -> RealmsConfWord? { first(keyword).flatMap { builder.singleWord($0) } }

    /// Returns the word of a statement that takes one word and no block, and its text with references replaced.
    func text(_ keyword: String) -> (word: RealmsConfWord, text: String)? {
        guard let word = word(keyword), let text = builder.expanded(word) else { return nil }
        return (word, text)
    }

    /// Returns what `parse` makes of the word of a statement that takes one word; nil if it rejects the word, which is
    /// reported.
    func word<Value>(_ keyword: String, _ parse: (String) throws(BadWord) -> Value) -> Value? {
        word(keyword).flatMap { builder.value(of: $0, parse) }
    }

    /// Returns the words of all statements of a keyword; see ``ConfigurationBuilder/words(_:)``.
    func words(_ keyword: String) -> [RealmsConfWord] { all(keyword).flatMap(builder.words) }

    func words<Value>(_ keyword: String, _ parse: (String) throws(BadWord) -> Value) -> [Value] {
        words(keyword).compactMap { builder.value(of: $0, parse) }
    }

    /// Returns the values of all lists of a keyword, each with its place; see ``ConfigurationBuilder/list(_:)``.
    ///
    /// A second equal value is reported if the values are unique.
    func list<Value: Equatable>(
        _ keyword: String,
        isUnique: Bool = false,
        _ parse: (String) throws(BadWord) -> Value = { $0 }
    ) -> [Located<Value>] {
        var values: [Located<Value>] = []
        for word in all(keyword).flatMap(builder.list) {
            guard let value = builder.value(of: word, parse) else { continue }
            if isUnique, values.contains(where: { $0.value == value }) {
                builder.error(at: word.range, "\(value) occurs twice in \(keyword)")
            }
            values.append(Located(value, in: builder.text, at: word.range))
        }
        return values
    }

    /// Returns the path in the first statement of a keyword, relative to the folder of the configuration file.
    func file(_ keyword: String, as use: FileTrust.Use = .settings) -> Located<String>? {
        files(keyword, as: use).first
    }

    /// Returns the paths in all statements of a keyword; each statement takes one path.
    func files(_ keyword: String, as use: FileTrust.Use = .settings) -> [Located<String>] {
        all(keyword).compactMap { statement in
            guard let word = builder.singleWord(statement), let path = builder.filePath(word, as: use) else {
                return nil
            }
            return Located(path, in: builder.text, at: word.range)
        }
    }

    /// Returns the addresses and blocks of addresses in a list.
    ///
    /// The danger is what all clients of a block larger than a private network can do, and the hint what to write instead.
    func addresses(_ keyword: String, danger: String? = nil, hint: String? = nil) -> [CIDRBlock] {
        let blocks = list(keyword) { text throws(BadWord) in
            try Result { () throws(BadValue) in try CIDRBlock(text) }.mapError { error in
                // A name would have to be resolved at each request, and its owner could change the answer.
                let isName =
                    !text.utf8.contains(UInt8(ascii: ":")) && text.utf8.contains { $0 | 0x20 >= UInt8(ascii: "a") }
                let hint = "names are not resolved here: write addresses or networks, as in 127.0.0.1 or 10.0.0.0/8"
                return BadWord("\(keyword) \(error)", hint: isName ? hint : nil)
            }.get()
        }
        for block in blocks where block.isLargerThanPrivateNetworks {
            danger.map { builder.warn(at: block.range, "all clients in \(block.value) \($0)", hint: hint) }
        }
        return blocks.map(\.value)
    }

    /// Returns the names of realms in a list.
    func realms(_ keyword: String) -> [String] { first(keyword).map(builder.realms) ?? [] }
}

// MARK: Values of one word, which are nil if the keyword is missing, or after a mistake

extension Block {
    func integer(_ keyword: String, _ bounds: ClosedRange<Int>) -> Int? {
        guard case (_, .integer(let number))? = value(keyword, as: .integer(bounds)) else { return nil }
        return number
    }

    func duration(_ keyword: String, _ bounds: ClosedRange<Duration>) -> Duration? {
        guard case (let word, .duration(let time))? = value(keyword, as: .duration) else { return nil }
        guard bounds.contains(time) else {
            let (least, most) = (Self.text(bounds.lowerBound), Self.text(bounds.upperBound))
            builder.error(at: word.range, "\(keyword) is a time from \(least) to \(most)")
            return nil
        }
        return time
    }

    private func value(_ keyword: String, as kind: Property.Kind) -> (RealmsConfWord, PropertyValue)? {
        guard let (word, text) = text(keyword) else { return nil }
        do throws(BadValue) {
            return (word, try PropertyValue([text], as: kind))
        } catch {
            builder.error(at: word.range, "\(keyword) \(error)")
            return nil
        }
    }

    /// Reads a number of bytes, as in `19MiB`.
    func size(_ keyword: String, _ bounds: ClosedRange<Int>) -> Int? {
        guard let (word, text) = text(keyword) else { return nil }
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let units: [Substring: Int] = ["KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30]
        guard let number = Int(digits), let unit = units[text.dropFirst(digits.count)],
            case (let bytes, let overflow) = number.multipliedReportingOverflow(by: unit), !overflow,
            bounds.contains(bytes)
        else {
            let (least, most) = (Self.text(bytes: bounds.lowerBound), Self.text(bytes: bounds.upperBound))
            let message = "\(keyword) is a size from \(least) to \(most), as in 256MiB, not \(text)"
            builder.error(at: word.range, message)
            return nil
        }
        return bytes
    }

    /// Reads one of the words of `Choice`.
    func choice<Choice: RawRepresentable<String> & CaseIterable>(_ keyword: String) -> Choice? {
        guard let (word, text) = text(keyword) else { return nil }
        if let choice = Choice(rawValue: text) { return choice }
        let words = Choice.allCases.map(\.rawValue)
        let message = "\(keyword) is one of \(words.joined(separator: ", ")), not \(text)"
        let hint = NearestName.suggest(text, among: words).map { "did you mean \($0)?" }
        builder.error(at: word.range, message, hint: hint)
        return nil
    }

    /// Reads `on` or `off`.
    func flag(_ keyword: String) -> Bool? {
        guard let (word, text) = text(keyword) else { return nil }
        if text != "on", text != "off" { builder.error(at: word.range, "\(keyword) is on or off, not \(text)") }
        return text == "on" ? true : text == "off" ? false : nil
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
    /// It is nil if there is no statement, or if one has an error.
    func localizedText(
        _ keyword: String,
        for translations: Translations,
        _ parse: (String) throws(BadWord) -> String
    ) -> LocalizedText? {
        // The tag of the text without a language is empty.
        var texts: [String: String] = [:]
        var places: [String: SourceRange] = [:]
        for statement in all(keyword) {
            guard builder.hasNoBlock(statement) else { continue }
            let words = statement.arguments
            guard let last = words.last, words.count <= 2, words.dropFirst().allSatisfy({ !$0.beginsLine }) else {
                builder.reportCount(of: statement, expected: "one text, or a language and a text")
                continue
            }
            guard let tag = words.count == 1 ? "" : language(words[0], among: translations) else { continue }
            if let first = places[tag] {
                let name = tag.isEmpty ? keyword : "\(keyword) \(tag)"
                builder.reportSecond(name, at: statement.keyword.range, first: first)
                continue
            }
            places[tag] = statement.keyword.range
            texts[tag] = builder.value(of: last, parse)
        }
        let standard = texts.removeValue(forKey: "")
        if places[""] == nil, !texts.isEmpty, let statement = first(keyword) {
            let hint = "add \(keyword) TEXT; without a language"
            builder.error(at: statement.keyword.range, "\(keyword) has no text for all other languages", hint: hint)
        }
        return standard.map { LocalizedText($0, translations: texts) }
    }

    /// Returns the tag of a language of the pages in lower case; reports any other word.
    private func language(_ word: RealmsConfWord, among translations: Translations) -> String? {
        guard let text = builder.expanded(word) else { return nil }
        let tag = text.lowercased()
        guard LanguageTag.isValid(tag) else {
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
