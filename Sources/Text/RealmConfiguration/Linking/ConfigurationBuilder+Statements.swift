// SPDX-License-Identifier: Apache-2.0

internal import LoginConf
internal import RealmKit

// Checks of the words and the block of a statement.

extension ConfigurationBuilder {
    /// Returns the word of a statement that takes one word and no block.
    func singleWord(_ statement: Statement) -> RealmsConfWord? {
        guard hasNoBlock(statement) else { return nil }
        guard let word = statement.arguments.first, statement.arguments.count == 1 else {
            reportCount(of: statement, expected: "one word")
            return nil
        }
        let scalars = word.text.unicodeScalars
        if !word.isQuoted, RealmsConfWord.isComma(scalars.first) || RealmsConfWord.isComma(scalars.last) {
            reportComma(in: word, hint: "\(statement.keyword.text) takes one word")
            return nil
        }
        return word
    }

    /// Reports the words or the block of a statement that takes only its keyword.
    func checkHasNoWords(_ statement: Statement) {
        guard hasNoBlock(statement), let word = statement.arguments.first else { return }
        if word.beginsLine {
            error(
                at: word.range,
                "a ; is missing before \(word.text)",
                hint: "\(statement.keyword.text) takes no words"
            )
        } else {
            error(at: word.range, "\(statement.keyword.text) takes no words", hint: "end it with ;")
        }
    }

    /// Returns the address or the block of addresses in a word.
    ///
    /// - Parameters:
    ///   - word: The word.
    ///   - keyword: The statement.
    ///   - danger: What all clients of a block can do that is larger than a private network, and what to write instead; nil
    ///     if there is no danger.
    /// - Returns: The block.
    func addressBlock(
        _ word: RealmsConfWord,
        of keyword: String,
        danger: (text: String, hint: String)? = nil
    ) -> CIDRBlock? {
        guard let text = expanded(word) else { return nil }
        do throws(BadValue) {
            let block = try CIDRBlock(text)
            if let danger, block.isLargerThanPrivateNetworks {
                let message = "all clients in \(block) \(danger.text)"
                log.add(self.text.warning(at: word.range, message, hint: danger.hint))
            }
            return block
        } catch {
            // A name would have to be resolved at each request, and its owner could change the answer.
            let isName = !text.utf8.contains(UInt8(ascii: ":")) && text.utf8.contains { $0 | 0x20 >= UInt8(ascii: "a") }
            let hint = "names are not resolved here: write addresses or networks, as in 127.0.0.1 or 10.0.0.0/8"
            self.error(at: word.range, "\(keyword) \(error)", hint: isName ? hint : nil)
            return nil
        }
    }

    /// Returns the word and the block of a statement that takes one word and a block.
    func wordAndBlock(_ statement: Statement) -> (word: RealmsConfWord, block: [Statement])? {
        guard case .block(let block) = statement.body else {
            error(at: statement.keyword.range, "\(statement.keyword.text) needs a block in { }")
            return nil
        }
        let several = "write a block for each \(statement.keyword.text)"
        guard let word = statement.arguments.first, statement.arguments.count == 1 else {
            reportCount(of: statement, expected: "one word before its block", hint: several)
            return nil
        }
        guard hasNoComma(word, hint: several) else { return nil }
        return (word, block)
    }

    /// Returns the block of a statement that takes a block and no words.
    func block(_ statement: Statement, hint: String? = nil) -> [Statement]? {
        guard case .block(let statements) = statement.body, statement.arguments.isEmpty else {
            error(at: statement.keyword.range, "\(statement.keyword.text) takes a block and no words", hint: hint)
            return nil
        }
        return statements
    }

    func hasNoBlock(_ statement: Statement) -> Bool {
        if case .none = statement.body { return true }
        error(at: statement.keyword.range, "\(statement.keyword.text) takes no block", hint: "end it with ;")
        return false
    }

    func reportCount(
        of statement: Statement,
        expected: String,
        hint: String = "quote a value that holds blanks"
    ) {
        let keyword = statement.keyword
        // A word at the beginning of a line is probably the next statement.
        if let next = statement.arguments.dropFirst().first(where: \.beginsLine) {
            error(at: next.range, "a ; is missing before \(next.text)", hint: "\(keyword.text) takes \(expected)")
        } else {
            let place = statement.arguments.dropFirst().first?.range ?? keyword.range
            error(at: place, "\(keyword.text) takes \(expected)", hint: statement.arguments.isEmpty ? nil : hint)
        }
    }
}

// Lists of words, in which commas are mistakes.

extension ConfigurationBuilder {
    /// Returns the words of a statement that takes one or more words and no block.
    ///
    /// A comma at the beginning or the end of a word is an error, because it was probably meant to separate words.
    func words(_ statement: Statement) -> [RealmsConfWord] {
        guard hasNoBlock(statement) else { return [] }
        if statement.arguments.isEmpty { reportCount(of: statement, expected: "at least one word") }
        return separated(statement) { word in
            let scalars = word.text.unicodeScalars
            let hasComma = RealmsConfWord.isComma(scalars.first) || RealmsConfWord.isComma(scalars.last)
            return hasComma ? Self.trimmed(word) : nil
        }
    }

    /// Returns the words of a statement that takes names or addresses and no block.
    ///
    /// A comma in a word is an error, unless the word is quoted.
    func list(_ statement: Statement) -> [RealmsConfWord] {
        guard hasNoBlock(statement) else { return [] }
        if statement.arguments.isEmpty { reportCount(of: statement, expected: "at least one word") }
        return separated(statement) { word in RealmsConfWord.hasComma(word.text) ? Self.parts(word) : nil }
    }

    /// Returns the words of a statement without their commas, and reports the first comma.
    ///
    /// - Parameters:
    ///   - statement: The statement.
    ///   - parts: Returns the words that an unquoted word with commas was probably meant to be; nil for a word without.
    /// - Returns: The words.
    private func separated(
        _ statement: Statement,
        parts: (RealmsConfWord) -> [RealmsConfWord]?
    ) -> [RealmsConfWord] {
        var first: RealmsConfWord?
        let words = statement.arguments.flatMap { word -> [RealmsConfWord] in
            guard !word.isQuoted, let parts = parts(word) else { return [word] }
            first = first ?? word
            return parts
        }
        if let first {
            let corrected = Statement(keyword: statement.keyword, arguments: words).correction(in: text)
            reportComma(in: first, hint: words.isEmpty ? "words are separated by blanks" : "write \(corrected)")
        }
        return words
    }

    /// Reports a comma in a word that is not quoted.
    ///
    /// - Parameters:
    ///   - word: The word.
    ///   - hint: What to write instead.
    func reportComma(in word: RealmsConfWord, hint: String) {
        error(
            at: word.range,
            "\(word.text) contains a comma, and words are separated by blanks",
            hint: "\(hint) (quote a word if the comma is a part of it)"
        )
    }

    /// Reports a comma in a name that is not quoted; for statements that take one name.
    ///
    /// - Parameters:
    ///   - word: The name.
    ///   - hint: What to write instead.
    /// - Returns: True if there is no comma.
    func hasNoComma(_ word: RealmsConfWord, hint: String) -> Bool {
        guard !word.isQuoted, RealmsConfWord.hasComma(word.text) else { return true }
        reportComma(in: word, hint: hint)
        return false
    }

    private static func trimmed(_ word: RealmsConfWord) -> [RealmsConfWord] {
        var text = word.text.unicodeScalars[...]
        while RealmsConfWord.isComma(text.first) { text.removeFirst() }
        while RealmsConfWord.isComma(text.last) { text.removeLast() }
        guard !text.isEmpty else { return [] }
        return [RealmsConfWord(String(text), range: word.range, beginsLine: word.beginsLine)]
    }

    private static func parts(_ word: RealmsConfWord) -> [RealmsConfWord] {
        word.text.unicodeScalars.split { RealmsConfWord.isComma($0) }.map { part in
            RealmsConfWord(String(part), range: word.range, beginsLine: word.beginsLine)
        }
    }
}

extension RealmsConfWord {
    /// Returns whether a character is a comma of any script.
    static func isComma(_ scalar: Unicode.Scalar?) -> Bool {
        scalar.map { [",", "\u{FF0C}", "\u{3001}", "\u{060C}"].contains($0) } ?? false
    }

    /// Returns whether a text contains a comma.
    static func hasComma(_ text: String) -> Bool { text.unicodeScalars.contains { isComma($0) } }
}

extension Statement {
    /// The end of the arguments, for messages that may contain several of them.
    var argumentsEnd: UInt32 { arguments.last?.range.end ?? keyword.range.end }

    /// The statement as an administrator should write it, for a hint.
    ///
    /// The contents of quoted words and of those that may be secrets are left out, because a hint may go to a log.
    ///
    /// - Parameter text: The text with the statement.
    /// - Returns: The statement.
    func correction(in text: SourceText) -> String {
        let words =
            [keyword.text] + arguments.map { $0.isQuoted || text.isConfidential($0.range) ? "\"...\"" : $0.text }
        return words.joined(separator: " ") + (body == .none ? ";" : " { ... }")
    }
}
