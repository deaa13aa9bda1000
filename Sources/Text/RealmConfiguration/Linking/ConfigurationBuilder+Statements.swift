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
        guard word.isQuoted || !word.hasOuterComma else {
            reportComma(in: word, hint: "\(statement.keyword.text) takes one word")
            return nil
        }
        return word
    }

    /// Reports the words or the block of a statement that takes only its keyword.
    func checkHasNoWords(_ statement: Statement) {
        guard hasNoBlock(statement), let word = statement.arguments.first else { return }
        let message = "\(statement.keyword.text) takes no words"
        if word.beginsLine {
            error(at: word.range, "a ; is missing before \(word.text)", hint: message)
        } else {
            error(at: word.range, message, hint: "end it with ;")
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
        if !word.isQuoted, RealmsConfWord.hasComma(word.text) {
            reportComma(in: word, hint: several)
            return nil
        }
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

    func reportCount(of statement: Statement, expected: String, hint: String = "quote a value that holds blanks") {
        let message = "\(statement.keyword.text) takes \(expected)"
        // A word at the beginning of a line is probably the next statement.
        if let next = statement.arguments.dropFirst().first(where: \.beginsLine) {
            error(at: next.range, "a ; is missing before \(next.text)", hint: message)
        } else {
            let place = statement.arguments.dropFirst().first?.range ?? statement.keyword.range
            error(at: place, message, hint: statement.arguments.isEmpty ? nil : hint)
        }
    }

    /// Returns the address or the block of addresses in a word of the statement `keyword`.
    ///
    /// The danger is what all clients of a block larger than a private network can do, and what to write instead.
    func addressBlock(
        _ word: RealmsConfWord,
        of keyword: String,
        danger: (text: String, hint: String)? = nil
    ) -> CIDRBlock? {
        guard let text = expanded(word) else { return nil }
        do throws(BadValue) {
            let block = try CIDRBlock(text)
            if let danger, block.isLargerThanPrivateNetworks {
                warn(at: word.range, "all clients in \(block) \(danger.text)", hint: danger.hint)
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
}

// MARK: Lists of words, in which commas are mistakes

extension ConfigurationBuilder {
    /// Returns the words of a statement that takes one or more words and no block.
    ///
    /// A comma at the beginning or the end of a word is an error, because it was probably meant to separate words.
    func words(_ statement: Statement) -> [RealmsConfWord] {
        separated(statement) { $0.hasOuterComma ? Self.trimmed($0) : nil }
    }

    /// Returns the words of a statement that takes names or addresses and no block.
    ///
    /// A comma in a word is an error, unless the word is quoted.
    func list(_ statement: Statement) -> [RealmsConfWord] {
        separated(statement) { RealmsConfWord.hasComma($0.text) ? Self.parts($0) : nil }
    }

    /// Returns the words of a statement without their commas, and reports the first comma.
    ///
    /// `parts` returns the words that an unquoted word with commas was probably meant to be; nil for a word without.
    private func separated(_ statement: Statement, parts: (RealmsConfWord) -> [RealmsConfWord]?) -> [RealmsConfWord] {
        guard hasNoBlock(statement) else { return [] }
        if statement.arguments.isEmpty { reportCount(of: statement, expected: "at least one word") }
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

    private func reportComma(in word: RealmsConfWord, hint: String) {
        let message = "\(word.text) contains a comma, and words are separated by blanks"
        error(at: word.range, message, hint: "\(hint) (quote a word if the comma is a part of it)")
    }

    private static func trimmed(_ word: RealmsConfWord) -> [RealmsConfWord] {
        var text = word.text.unicodeScalars[...]
        while RealmsConfWord.isComma(text.first) { text.removeFirst() }
        while RealmsConfWord.isComma(text.last) { text.removeLast() }
        return text.isEmpty ? [] : [RealmsConfWord(String(text), range: word.range, beginsLine: word.beginsLine)]
    }

    private static func parts(_ word: RealmsConfWord) -> [RealmsConfWord] {
        word.text.unicodeScalars.split { RealmsConfWord.isComma($0) }.map { part in
            RealmsConfWord(String(part), range: word.range, beginsLine: word.beginsLine)
        }
    }
}

extension RealmsConfWord {
    /// Returns whether a character is a comma of any script.
    fileprivate static func isComma(_ scalar: Unicode.Scalar?) -> Bool {
        scalar.map { [",", "\u{FF0C}", "\u{3001}", "\u{060C}"].contains($0) } ?? false
    }

    fileprivate static func hasComma(_ text: String) -> Bool { text.unicodeScalars.contains { isComma($0) } }

    /// True if the word begins or ends with a comma.
    fileprivate var hasOuterComma: Bool {
        Self.isComma(text.unicodeScalars.first) || Self.isComma(text.unicodeScalars.last)
    }
}

extension Statement {
    /// The place of the first argument, or of the keyword if there is none.
    var valueRange: SourceRange { (arguments.first ?? keyword).range }

    /// The end of the arguments, for messages that may contain several of them.
    var argumentsEnd: UInt32 { arguments.last?.range.end ?? keyword.range.end }

    /// The statement as an administrator should write it, for a hint.
    ///
    /// The contents of quoted words and of those that may be secrets are left out, because a hint may go to a log.
    func correction(in text: SourceText) -> String {
        let words =
            [keyword.text] + arguments.map { $0.isQuoted || text.isConfidential($0.range) ? "\"...\"" : $0.text }
        return words.joined(separator: " ") + (body == .none ? ";" : " { ... }")
    }
}
