// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import LoginConf
internal import RealmKit

/// The statements of a block, by keyword; unknown and repeated ones are reported.
struct Block {
    private let builder: ConfigurationBuilder
    private let statements: [Statement]

    // - Parameter repeated: The statements that may occur more than once in this kind of block.
    init(
        _ statements: [Statement],
        of place: String,
        _ keywords: [String],
        repeated: [String] = [],
        in builder: ConfigurationBuilder
    ) {
        let statements = Self.separated(statements, by: keywords, in: builder)
        self.builder = builder
        self.statements = statements
        var first: [String: Statement] = [:]
        for statement in statements {
            let keyword = statement.keyword
            guard keywords.contains(keyword.text) else {
                let hint = ConfigurationBuilder.hint(keyword.text, among: keywords)
                builder.error(at: keyword.range, "unknown statement \(keyword.text) in \(place)", hint: hint)
                continue
            }
            guard let earlier = first[keyword.text] else {
                first[keyword.text] = statement
                continue
            }
            guard !repeated.contains(keyword.text) else { continue }
            let hint = "the first one is at \(builder.text.place(of: earlier.keyword.range))"
            builder.error(at: keyword.range, "a second \(keyword.text)", hint: hint)
        }
    }

    /// Separates statements between which a `;` is missing, and reports that.
    ///
    /// A keyword at the beginning of a line begins the next statement. Otherwise a list would include it as one of its words,
    /// and the statement would be lost without an error.
    static func separated(
        _ statements: [Statement],
        by keywords: [String],
        in builder: ConfigurationBuilder
    ) -> [Statement] {
        statements.flatMap { statement -> [Statement] in
            let arguments = statement.arguments
            let place = arguments.firstIndex { $0.beginsLine && !$0.isQuoted && keywords.contains($0.text) }
            guard let place else { return [statement] }
            let next = arguments[place]
            let hint = "quote it if it is meant as a word of \(statement.keyword.text)"
            builder.error(at: next.range, "a ; is missing before \(next.text)", hint: hint)
            let first = Statement(keyword: statement.keyword, arguments: Array(arguments[..<place]))
            let second = Statement(keyword: next, arguments: Array(arguments[(place + 1)...]), body: statement.body)
            return [first] + separated([second], by: keywords, in: builder)
        }
    }

    func all(_ keyword: String) -> [Statement] {
        statements.filter { $0.keyword.text == keyword }
    }

    func once(_ keyword: String) -> Statement? {
        all(keyword).first
    }

    /// Returns the only word of a statement without a block.
    func word(_ keyword: String) -> Word? {
        once(keyword).flatMap { builder.oneWord($0) }
    }

    /// Returns the path of a statement that names one file, relative to the folder of the configuration file.
    func file(_ keyword: String) -> Located<String>? { files(keyword).first }

    /// Returns the paths of all statements of a keyword, each of which names one file.
    func files(_ keyword: String) -> [Located<String>] {
        all(keyword).compactMap { statement in
            guard let word = builder.oneWord(statement), let path = builder.expanded(word) else { return nil }
            return Located(FilePath.resolve(path, beside: builder.text.name), in: builder.text, at: word.range)
        }
    }
}

extension ConfigurationBuilder {
    /// Returns the only word of a statement without a block.
    func oneWord(_ statement: Statement) -> Word? {
        guard hasNoBlock(statement) else { return nil }
        guard let word = statement.arguments.first, statement.arguments.count == 1 else {
            reportCount(of: statement, expected: "one word")
            return nil
        }
        return word
    }

    /// Returns the words of a statement without a block, at least one.
    func words(_ statement: Statement) -> [Word] {
        guard hasNoBlock(statement) else { return [] }
        if statement.arguments.isEmpty { reportCount(of: statement, expected: "at least one word") }
        return statement.arguments
    }

    /// Checks that a statement has neither words nor a block.
    func alone(_ statement: Statement) {
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

    /// Reads an address or a block of addresses.
    func addressBlock(_ word: Word, of keyword: String) -> CIDRBlock? {
        guard let text = expanded(word) else { return nil }
        do throws(BadValue) {
            return try CIDRBlock(text)
        } catch {
            self.error(at: word.range, "\(keyword) \(error)")
            return nil
        }
    }

    /// Returns the only word and the block of a statement.
    func named(_ statement: Statement) -> (word: Word, block: [Statement])? {
        guard case .block(let block) = statement.body else {
            error(at: statement.keyword.range, "\(statement.keyword.text) needs a block in { }")
            return nil
        }
        guard let word = statement.arguments.first, statement.arguments.count == 1 else {
            reportCount(of: statement, expected: "one word before its block")
            return nil
        }
        return (word, block)
    }

    /// Returns the block of a statement without words.
    func block(_ statement: Statement, hint: String? = nil) -> [Statement]? {
        guard case .block(let statements) = statement.body, statement.arguments.isEmpty else {
            error(at: statement.keyword.range, "\(statement.keyword.text) takes a block and no words", hint: hint)
            return nil
        }
        return statements
    }

    private func hasNoBlock(_ statement: Statement) -> Bool {
        if case .none = statement.body { return true }
        error(at: statement.keyword.range, "\(statement.keyword.text) takes no block", hint: "end it with ;")
        return false
    }

    private func reportCount(of statement: Statement, expected: String) {
        let keyword = statement.keyword
        // A word at the beginning of a line is probably the next statement.
        if let next = statement.arguments.dropFirst().first(where: \.beginsLine) {
            error(at: next.range, "a ; is missing before \(next.text)", hint: "\(keyword.text) takes \(expected)")
        } else {
            let place = statement.arguments.dropFirst().first?.range ?? keyword.range
            error(at: place, "\(keyword.text) takes \(expected)", hint: "quote a value that holds blanks")
        }
    }
}
