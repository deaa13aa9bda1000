// SPDX-License-Identifier: Apache-2.0

internal import Files
internal import LoginConf

/// The statements of a block by keyword; unknown and repeated statements are reported.
struct Block {
    let builder: ConfigurationBuilder
    private let statements: [Statement]

    /// Creates the block that messages name `place`, and reports its unknown statements, and those that occur twice and
    /// may not be repeated.
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
                Self.reportUnknown(statement, in: place, among: keywords, builder: builder)
                continue
            }
            guard let earlier = first[keyword.text] else {
                first[keyword.text] = statement
                continue
            }
            guard !repeated.contains(keyword.text) else { continue }
            builder.reportSecond(keyword.text, at: keyword.range, first: earlier.keyword.range)
        }
    }

    func all(_ keyword: String) -> [Statement] { statements.filter { $0.keyword.text == keyword } }

    func first(_ keyword: String) -> Statement? { statements.first { $0.keyword.text == keyword } }

    /// Returns the word of a statement that takes one word and no block.
    func word(_ keyword: String) -> RealmsConfWord? { first(keyword).flatMap { builder.singleWord($0) } }

    /// Returns the word of a statement that takes one word and no block, and its text with references replaced.
    func text(_ keyword: String) -> (word: RealmsConfWord, text: String)? {
        guard let word = word(keyword), let text = builder.expanded(word) else { return nil }
        return (word, text)
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
}

// MARK: Unknown statements

extension Block {
    private static func reportUnknown(
        _ statement: Statement,
        in place: String,
        among keywords: [String],
        builder: ConfigurationBuilder
    ) {
        let (name, range) = (statement.keyword.text, statement.keyword.range)
        let message = "unknown statement \(name) in \(place)"
        if let hint = hint(statement, in: place, among: keywords, builder: builder) {
            builder.error(at: range, message, hint: hint)
        } else {
            let value = SourceRange(range.end, max(range.end, statement.argumentsEnd))
            builder.reportUnknown(name, at: range, value: value, in: builder.text, message, among: keywords)
        }
    }

    /// Returns a hint for a statement that belongs in another block, or has no meaning here; nil for another statement.
    private static func hint(
        _ statement: Statement,
        in place: String,
        among keywords: [String],
        builder: ConfigurationBuilder
    ) -> String? {
        let keyword = statement.keyword.text
        let isTopLevel = keywords == ConfigurationBuilder.keywords
        if isTopLevel, ServerReader.keywords.contains(keyword) {
            return "\(keyword) belongs in the server block: server { \(statement.correction(in: builder.text)) }"
        }
        if !isTopLevel, ConfigurationBuilder.keywords.contains(keyword), place == "server" || statement.body != .none {
            let kind = statement.body == .none ? "statement" : "block"
            return "\(keyword) is a \(kind) of the file: write it outside of \(place)"
        }
        if let meant = propertiesOfGlassFish[keyword] { return "write \(meant)" }
        let hasNoMeaning =
            ["jndiCtxFactory", "digestrealm-password-enc-algorithm"].contains(keyword)
            || ["java.naming.", "com.sun.jndi."].contains(where: keyword.hasPrefix)
        return hasNoMeaning ? "it has no meaning here: remove it" : nil
    }

    private static let propertiesOfGlassFish = [
        "java.naming.security.principal": "search-bind-dn",
        "java.naming.security.credentials": "search-bind-password",
        "com.sun.jndi.ldap.connect.timeout": "connect-timeout, as in: connect-timeout 3s;",
    ]
}

// MARK: Missing and superfluous signs

extension Block {
    /// Returns the statements, divided where a `;` is missing, and reports each missing `;` and each `=` or `:`.
    ///
    /// A keyword at the beginning of a line begins the next statement. Without this rule, a list before it would take
    /// the keyword and its words as values, and no error would show that the statement is lost.
    static func separated(
        _ statements: [Statement],
        by keywords: [String],
        in builder: ConfigurationBuilder
    ) -> [Statement] {
        statements.flatMap { statement -> [Statement] in
            let statement = withoutSign(statement, among: keywords, in: builder)
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

    /// Returns a statement as it was probably meant, without the `=` or `:` that other languages have between keyword and
    /// value, and reports the sign.
    private static func withoutSign(
        _ statement: Statement,
        among keywords: [String],
        in builder: ConfigurationBuilder
    ) -> Statement {
        let keyword = statement.keyword
        guard !keyword.isQuoted else { return statement }
        if keywords.contains(keyword.text) {
            // In `protect = /path`, the sign is a part of the target.
            guard keyword.text != "protect", let sign = statement.arguments.first, !sign.isQuoted,
                ["=", ":", ":="].contains(sign.text)
            else { return statement }
            let rest = Array(statement.arguments.dropFirst())
            return report(sign.text, at: sign.range, keyword: keyword, arguments: rest, of: statement, in: builder)
        }
        guard let place = keyword.text.firstIndex(where: { $0 == "=" || $0 == ":" }) else { return statement }
        let stem = String(keyword.text[..<place])
        guard keywords.contains(stem) else { return statement }
        let value = String(keyword.text[keyword.text.index(after: place)...])
        return report(
            String(keyword.text[place]),
            at: keyword.range,
            keyword: RealmsConfWord(stem, range: keyword.range, beginsLine: keyword.beginsLine),
            arguments: (value.isEmpty ? [] : [RealmsConfWord(value, range: keyword.range)]) + statement.arguments,
            of: statement,
            in: builder
        )
    }

    private static func report(
        _ sign: String,
        at range: SourceRange,
        keyword: RealmsConfWord,
        arguments: [RealmsConfWord],
        of statement: Statement,
        in builder: ConfigurationBuilder
    ) -> Statement {
        let meant = Statement(keyword: keyword, arguments: arguments, body: statement.body, range: statement.range)
        let isEmpty = arguments.isEmpty && statement.body == .none
        let message = "no \(sign) between a keyword and its value"
        builder.error(at: range, message, hint: isEmpty ? nil : "write \(meant.correction(in: builder.text))")
        return meant
    }
}
