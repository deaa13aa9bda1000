// SPDX-License-Identifier: Apache-2.0

/// The language of realms.conf.
///
///     file      = { statement }
///     statement = KEYWORD { WORD } ( ";" | "{" { statement } "}" )
///               | "login" NAME "{" { module } "}" [ ";" ]        ; top level only, modules as in login.conf
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

    /// Parses a realms.conf into statements; the caller interprets them.
    ///
    /// - Parameter text: The text of the file.
    /// - Returns: The statements and all diagnostics.
    public static func parse(_ text: SourceText) -> Parsed<[Statement]> {
        if let fault = text.validationError() { return Parsed(partial: [], diagnostics: [fault]) }
        var parser = RealmsConfParser(text)
        let statements = parser.parseFile()
        return Parsed(partial: statements, diagnostics: parser.diagnostics.inOrder)
    }
}
