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
        guard !word.hasOuterComma else {
            reportComma(in: word, of: statement, hint: "\(statement.keyword.text) takes one word")
            return nil
        }
        return word
    }

    /// Reports the words or the block of a statement that takes only its keyword.
    func checkHasNoWords(_ statement: Statement) {
        guard hasNoBlock(statement), let word = statement.arguments.first else { return }
        let message = "\(statement.keyword.text) takes no words"
        if word.beginsLine {
            reportMissingSemicolon(before: word, hint: message)
        } else {
            error(at: word.range, message, hint: "end it with ;", showing: .never)
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
        if word.hasComma {
            reportComma(in: word, of: statement, hint: several)
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
            reportMissingSemicolon(before: next, hint: message)
        } else if let superfluous = statement.arguments.dropFirst().first {
            error(at: superfluous.range, message, hint: hint, showing: .never)
        } else {
            error(at: statement.keyword.range, message, hint: statement.arguments.isEmpty ? nil : hint)
        }
    }

    /// Reports a missing `;` before a word that begins a line; an unknown word may be a value.
    func reportMissingSemicolon(before word: RealmsConfWord, hint: String) {
        let isName = !word.isQuoted && text.names.mayQuote(word.text)
        let message = "a ; is missing before \(isName ? word.text : "this word")"
        error(at: word.range, message, hint: hint, showing: isName ? .ifKnown : .never)
    }
}

// MARK: Lists of words, in which commas are mistakes

extension ConfigurationBuilder {
    /// Returns the words of a statement that takes one or more words and no block.
    ///
    /// A comma at the beginning or the end of a word is an error, because it was probably meant to separate words.
    func words(_ statement: Statement) -> [RealmsConfWord] { separated(statement) { $0.hasOuterComma } }

    /// Returns the words of a statement that takes names or addresses and no block.
    ///
    /// A comma in a word is an error, unless the word is quoted.
    func list(_ statement: Statement) -> [RealmsConfWord] { separated(statement) { $0.hasComma } }

    /// Returns the words of a statement, divided at the commas that are wrong, and reports the first one.
    private func separated(_ statement: Statement, isWrong: (RealmsConfWord) -> Bool) -> [RealmsConfWord] {
        guard hasNoBlock(statement) else { return [] }
        if statement.arguments.isEmpty { reportCount(of: statement, expected: "at least one word") }
        guard let first = statement.arguments.first(where: isWrong) else { return statement.arguments }
        let words = statement.arguments.flatMap { word in isWrong(word) ? word.parts : [word] }
        let corrected = Statement(keyword: statement.keyword, arguments: words).correction(in: text)
        reportComma(
            in: first,
            of: statement,
            hint: words.isEmpty ? "words are separated by blanks" : "write \(corrected)"
        )
        return words
    }

    private func reportComma(in word: RealmsConfWord, of statement: Statement, hint: String) {
        let shown = statement.mayQuoteArguments(in: text) && !word.beginsLine ? word.text : "this word"
        let message = "\(shown) contains a comma, and words are separated by blanks"
        error(at: word.range, message, hint: "\(hint) (quote a word if the comma is a part of it)")
    }
}

extension RealmsConfWord {
    /// The commas of several scripts.
    private static let commas: Set<Unicode.Scalar> = [",", "\u{FF0C}", "\u{3001}", "\u{060C}"]

    fileprivate var hasComma: Bool { !isQuoted && text.unicodeScalars.contains(where: Self.commas.contains) }

    /// True if the word begins or ends with a comma.
    fileprivate var hasOuterComma: Bool {
        let scalars = text.unicodeScalars
        return !isQuoted && [scalars.first, scalars.last].compactMap(\.self).contains(where: Self.commas.contains)
    }

    /// The words that the word was probably meant to be.
    fileprivate var parts: [RealmsConfWord] {
        text.unicodeScalars.split(whereSeparator: Self.commas.contains).map { part in
            RealmsConfWord(String(part), range: range, beginsLine: beginsLine)
        }
    }
}

extension Statement {
    /// The place of the first argument, or of the keyword if there is none.
    var valueRange: SourceRange { (arguments.first ?? keyword).range }

    /// Returns whether messages may quote the arguments: those of a harmless statement, without the name of a secret among
    /// them, before which a `;` is probably missing.
    func mayQuoteArguments(in text: SourceText) -> Bool {
        text.names.isHarmless(keyword.text) && !arguments.contains { !$0.isQuoted && text.names.isSecret($0.text) }
    }

    /// The statement as an administrator should write it, for a hint.
    ///
    /// The contents of quoted words and of those that may not be quoted are left out.
    func correction(in text: SourceText) -> String {
        let mayQuote = mayQuoteArguments(in: text)
        let isOneLine = !arguments.dropFirst().contains(where: \.beginsLine)
        let words =
            [keyword.text] + arguments.map { mayQuote && isOneLine && !$0.isQuoted ? $0.text : "\"...\"" }
        return words.joined(separator: " ") + (body == .none ? ";" : " { ... }")
    }
}
