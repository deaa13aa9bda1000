// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The language of realms.conf.
///
///     file      = { statement }
///     statement = KEYWORD { WORD } ( ";" | "{" { statement } "}" )
///               | "login" NAME "{" { module } "}" [ ";" ]        ; top level only, modules as in login.conf
///
/// A word is any run of characters other than white space `;` `{` `}` `"`, or a text in double quotes, in which `\"`
/// and `\\` are the only escapes. `#` at the start of a word begins a comment to the end of the line. Also rejected are
/// quotes that touch another word, invisible characters in unquoted words, a byte order mark, blocks nested more than
/// ``maximumDepth`` deep, and bytes that are not UTF-8.
public enum RealmsConf {
    /// The largest depth of nested blocks.
    public static let maximumDepth = 32

    /// Reads a realms.conf into statements; their meaning is left to the caller.
    ///
    /// - Parameter text: The content of a realms.conf.
    /// - Returns: The statements, and all errors of the text, not only the first.
    public static func parse(_ text: SourceText) -> Parsed<[Statement]> {
        if let fault = text.unreadable() { return Parsed(partial: [], diagnostics: [fault]) }
        var parser = RealmsConfParser(text)
        let statements = parser.parseFile()
        return Parsed(partial: statements, diagnostics: parser.diagnoses.inOrder)
    }
}
