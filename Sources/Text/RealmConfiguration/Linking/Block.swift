// SPDX-License-Identifier: Apache-2.0

internal import LoginConf

/// The statements of a block by keyword; unknown and repeated statements are reported.
struct Block {
    var builder: ConfigurationBuilder
    /// The place of the block: the word before it, or its keyword.
    let place: SourceRange
    private let statements: [Statement]

    /// Creates the block that messages call `name`, and reports its unknown statements, and those that occur twice and
    /// may not be repeated.
    init(
        _ statements: [Statement],
        of name: String,
        _ keywords: [String],
        repeated: [String] = [],
        at place: SourceRange,
        in builder: ConfigurationBuilder
    ) {
        let statements = Self.separated(statements, by: keywords, in: builder)
        self.builder = builder
        self.place = place
        self.statements = statements
        var first: [String: Statement] = [:]
        for statement in statements {
            let keyword = statement.keyword
            guard keywords.contains(keyword.text) else {
                Self.reportUnknown(statement, in: name, among: keywords, builder: builder)
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

    /// Reports an error at the value of a statement, or of another one if there is no such statement.
    func error(at keyword: String, or other: String? = nil, _ message: String, hint: String? = nil) {
        guard let statement = first(keyword) ?? other.flatMap(first) else { return }
        builder.error(at: statement.valueRange, message, hint: hint)
    }

    /// Reports an error at the keyword of a statement, if there is such a statement.
    func error(atKeyword keyword: String, _ message: String, hint: String? = nil) {
        first(keyword).map { builder.error(at: $0.keyword.range, message, hint: hint) }
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
        let special = hint(statement, in: place, among: keywords, builder: builder)
        let isNamed = special != nil || builder.text.names.mayQuote(name)
        let message = isNamed ? "unknown statement \(name) in \(place)" : "unknown statement in \(place)"
        let general = ConfigurationBuilder.hint(name, among: keywords)
        builder.error(at: range, message, hint: special ?? general, showing: isNamed ? .ifKnown : .never)
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
        if isTopLevel, ServerSettings.schema.keywords.contains(keyword) {
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
            let name = statement.keyword.text
            let shownName = builder.text.names.mayQuote(name) ? name : "the statement before it"
            let hint = "quote it if it is meant as a word of \(shownName)"
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
        let sign: RealmsConfWord
        var words = statement.arguments
        if keywords.contains(keyword.text) {
            // In `protect = /path`, the sign is a part of the target.
            guard keyword.text != "protect", let first = words.first, !first.isQuoted,
                ["=", ":", ":="].contains(first.text)
            else { return statement }
            sign = first
            words[0] = keyword
        } else {
            guard !keyword.isQuoted, let place = keyword.text.firstIndex(where: { $0 == "=" || $0 == ":" }),
                keywords.contains(String(keyword.text[..<place]))
            else { return statement }
            let parts = [keyword.text[..<place], keyword.text[place...place], keyword.text[place...].dropFirst()].map {
                RealmsConfWord(String($0), range: keyword.range, beginsLine: keyword.beginsLine)
            }
            sign = parts[1]
            words = [parts[0]] + (parts[2].text.isEmpty ? [] : [parts[2]]) + words
        }
        let rest = Array(words.dropFirst())
        let meant = Statement(keyword: words[0], arguments: rest, body: statement.body, range: statement.range)
        let hint = rest.isEmpty && statement.body == .none ? nil : "write \(meant.correction(in: builder.text))"
        builder.error(at: sign.range, "no \(sign.text) between a keyword and its value", hint: hint)
        return meant
    }
}
