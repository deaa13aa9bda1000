// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import LoginConf
internal import RealmKit

/// The statements of one block by keyword; unknown and repeated ones are reported.
struct Block {
    private let linker: Linker
    private let statements: [Statement]

    // `repeated`: the statements that may stand more than once in this kind of block.
    init(
        _ statements: [Statement],
        of place: String,
        _ keywords: [String],
        repeated: [String] = [],
        in linker: Linker
    ) {
        let statements = Self.separated(statements, by: keywords, in: linker)
        self.linker = linker
        self.statements = statements
        var first: [String: Statement] = [:]
        for statement in statements {
            let keyword = statement.keyword
            guard keywords.contains(keyword.text) else {
                let hint = Linker.hint(keyword.text, among: keywords)
                linker.error(keyword.range, "\(place) knows no \(keyword.text)", hint: hint)
                continue
            }
            guard let earlier = first[keyword.text] else {
                first[keyword.text] = statement
                continue
            }
            guard !repeated.contains(keyword.text) else { continue }
            let hint = "the first one is at \(linker.text.place(of: earlier.keyword.range))"
            linker.error(keyword.range, "a second \(keyword.text)", hint: hint)
        }
    }

    /// Statements with those taken apart whose `;` is missing, which is reported.
    ///
    /// A keyword at the beginning of a line is the next statement: a list would take it for one more of its words, and the
    /// statement would be gone without a word.
    static func separated(_ statements: [Statement], by keywords: [String], in linker: Linker) -> [Statement] {
        statements.flatMap { statement -> [Statement] in
            let arguments = statement.arguments
            let place = arguments.firstIndex { $0.beginsLine && !$0.isQuoted && keywords.contains($0.text) }
            guard let place else { return [statement] }
            let next = arguments[place]
            let hint = "quote it if it is meant as a word of \(statement.keyword.text)"
            linker.error(next.range, "a ; is missing before \(next.text)", hint: hint)
            let first = Statement(keyword: statement.keyword, arguments: Array(arguments[..<place]))
            let second = Statement(keyword: next, arguments: Array(arguments[(place + 1)...]), body: statement.body)
            return [first] + separated([second], by: keywords, in: linker)
        }
    }

    func all(_ keyword: String) -> [Statement] {
        statements.filter { $0.keyword.text == keyword }
    }

    func once(_ keyword: String) -> Statement? {
        all(keyword).first
    }

    /// The one word of a statement that has one and no block.
    func word(_ keyword: String) -> Word? {
        once(keyword).flatMap { linker.oneWord($0) }
    }

    /// The path of a statement that names one file, beside the file it stands in.
    func file(_ keyword: String) -> Placed<String>? { files(keyword).first }

    /// The paths of all statements of a keyword, each of which names one file.
    func files(_ keyword: String) -> [Placed<String>] {
        all(keyword).compactMap { statement in
            guard let word = linker.oneWord(statement), let path = linker.expanded(word) else { return nil }
            return Placed(FilePath.resolve(path, beside: linker.text.name), in: linker.text, at: word.range)
        }
    }
}

extension Linker {
    /// The one word of a statement without a block.
    func oneWord(_ statement: Statement) -> Word? {
        guard hasNoBlock(statement) else { return nil }
        guard let word = statement.arguments.first, statement.arguments.count == 1 else {
            reportCount(statement, "one word")
            return nil
        }
        return word
    }

    /// The words of a statement without a block, at least one.
    func words(_ statement: Statement) -> [Word] {
        guard hasNoBlock(statement) else { return [] }
        if statement.arguments.isEmpty { reportCount(statement, "at least one word") }
        return statement.arguments
    }

    /// A statement that is nothing but its keyword.
    func alone(_ statement: Statement) {
        guard hasNoBlock(statement), let word = statement.arguments.first else { return }
        if word.beginsLine {
            error(word.range, "a ; is missing before \(word.text)", hint: "\(statement.keyword.text) takes no words")
        } else {
            error(word.range, "\(statement.keyword.text) takes no words", hint: "end it with ;")
        }
    }

    /// An address or a block of them.
    func addressBlock(_ word: Word, of keyword: String) -> AddressBlock? {
        guard let text = expanded(word) else { return nil }
        do throws(BadValue) {
            return try AddressBlock(text)
        } catch {
            self.error(word.range, "\(keyword) \(error)")
            return nil
        }
    }

    /// The one word and the block of a statement that has both.
    func named(_ statement: Statement) -> (word: Word, block: [Statement])? {
        guard case .block(let block) = statement.body else {
            error(statement.keyword.range, "\(statement.keyword.text) needs a block in { }")
            return nil
        }
        guard let word = statement.arguments.first, statement.arguments.count == 1 else {
            reportCount(statement, "one word before its block")
            return nil
        }
        return (word, block)
    }

    /// The block of a statement that has one and no words.
    func block(_ statement: Statement, hint: String? = nil) -> [Statement]? {
        guard case .block(let statements) = statement.body, statement.arguments.isEmpty else {
            error(statement.keyword.range, "\(statement.keyword.text) takes a block and no words", hint: hint)
            return nil
        }
        return statements
    }

    private func hasNoBlock(_ statement: Statement) -> Bool {
        if case .none = statement.body { return true }
        error(statement.keyword.range, "\(statement.keyword.text) takes no block", hint: "end it with ;")
        return false
    }

    private func reportCount(_ statement: Statement, _ wanted: String) {
        let keyword = statement.keyword
        // A word at the beginning of a line is most likely the next statement.
        if let next = statement.arguments.dropFirst().first(where: \.beginsLine) {
            error(next.range, "a ; is missing before \(next.text)", hint: "\(keyword.text) takes \(wanted)")
        } else {
            let place = statement.arguments.dropFirst().first?.range ?? keyword.range
            error(place, "\(keyword.text) takes \(wanted)", hint: "quote a value that holds blanks")
        }
    }
}
