// SPDX-License-Identifier: Apache-2.0

/// The language of realms.conf.
///
///     file      = { statement }
///     statement = KEYWORD { WORD } ( ";" | "{" { statement } "}" )
///               | "login" NAME "{" { module } "}" [ ";" ]        ; top level only, modules as in login.conf
///               | "login" NAME "{" "pam-file" FILE ";" "}"       ; top level only, modules in a file as in /etc/pam.d
///
/// A word is a sequence of characters without white space and `;` `{` `}` `"`, or a text in double quotes. In quotes
/// the only escapes are `\"` and `\\`. `#` at the start of a word begins a comment, which ends at the end of the line.
///
/// These texts are rejected too:
/// - a quoted text without white space between it and another word;
/// - invisible characters in unquoted words;
/// - blocks at a depth of more than ``maximumDepth``;
/// - a byte order mark, and bytes that are not UTF-8.
public enum RealmsConf {
    /// The maximum depth of nested blocks.
    public static let maximumDepth = 32
    /// The statement of a `login` block whose modules are in a file of PAM.
    package static let pamFile = "pam-file"

    /// Returns a word in double quotes.
    package static func quoted(_ word: String) -> String {
        // By scalars: a combining mark makes one character with the sign before it.
        "\"" + word.unicodeScalars.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined() + "\""
    }

    /// Parses a realms.conf into statements, which the caller interprets.
    public static func parse(_ text: SourceText) -> Parsed<[Statement]> {
        if let fault = text.validationError() { return Parsed(partial: [], diagnostics: [fault]) }
        var parser = Parser(text, .realmsConf)
        let statements = parser.parseRealmsConf()
        return Parsed(partial: statements, diagnostics: parser.diagnostics.inOrder)
    }
}

/// A statement of realms.conf: a keyword and words, and a `;` or a block at the end.
///
/// The parser does not check the keyword and its words.
public struct Statement: Sendable, Hashable {
    /// The `;` or the block at the end of a statement.
    public enum Body: Sendable, Hashable {
        /// A `;` without a block.
        case none
        /// A block of statements.
        case block([Statement])
        /// The modules of a `login` block, at least one, with option values that are not expanded.
        case login([ModuleEntry])
    }

    /// The keyword, without quotes.
    public let keyword: RealmsConfWord
    /// The words after the keyword.
    public let arguments: [RealmsConfWord]
    /// The `;` or the block after the words.
    public let body: Body
    /// The place of the statement, from its keyword to its `;` or `}`.
    public let range: SourceRange

    package init(
        keyword: RealmsConfWord,
        arguments: [RealmsConfWord] = [],
        body: Body = .none,
        range: SourceRange = .none
    ) {
        self.keyword = keyword
        self.arguments = arguments
        self.body = body
        self.range = range
    }
}

/// A word of realms.conf and its place.
public struct RealmsConfWord: Sendable, Hashable {
    /// The text without quotes and escapes; references `${...}` are not expanded.
    public let text: String
    /// The place of the word, with its quotes.
    public let range: SourceRange
    /// True if the word is in double quotes.
    public let isQuoted: Bool
    /// True if the word is the first of its line.
    ///
    /// If such a word is an argument, the `;` before it is probably missing.
    public let beginsLine: Bool

    package init(_ text: String, range: SourceRange = .none, isQuoted: Bool = false, beginsLine: Bool = false) {
        self.text = text
        self.range = range
        self.isQuoted = isQuoted
        self.beginsLine = beginsLine
    }

    /// Returns the text with `${name}`, `${/}`, `${env:NAME}` and `${file:PATH}` replaced.
    ///
    /// References in a replacement are not expanded. `${{...}}` is not changed. An unclosed `${` is an error, but not in
    /// login.conf. It is also an error if a reference is undefined, if a file cannot be read, or if the word expands to
    /// nothing or to bytes that are not UTF-8.
    public func expanded(by expansion: Expansion, in source: SourceText) throws(Diagnostic) -> String {
        try Expander(syntax: .strict, expansion: expansion, text: source, range: range).string(of: text)
    }

    /// Returns the expanded text as bytes; see ``expanded(by:in:)``.
    ///
    /// Use it for secrets: the content of a file may be any bytes, and is not converted to a `String`.
    public func expandedBytes(by expansion: Expansion, in source: SourceText) throws(Diagnostic) -> [UInt8] {
        try Expander(syntax: .strict, expansion: expansion, isSecret: true, text: source, range: range)
            .bytes(of: text)
    }
}
