// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The language of JAAS login configuration files.
///
/// What is accepted, the JDK reads to the same contexts, modules, flags and options. Refused is all that the JDK
/// refuses, and besides what it misreads without a word: a lone `/` (it begins a comment there), a string ended by the
/// end of its line, an unclosed comment, a byte order mark, a context name that is neither a word nor in double quotes,
/// a flag in non-ASCII letters, a context without modules, bytes that are not UTF-8. An option key that stands twice
/// in a module gives a warning; the last value counts.
///
/// Source: OpenJDK 17 `sun.security.provider.ConfigFile` and `java.io.StreamTokenizer`; the recorded cases of the
/// conformance tests pin it.
public enum LoginConf {
    /// Reads a text with no other texts beside it.
    ///
    /// - Parameters:
    ///   - text: The content of a login.conf.
    ///   - expansion: What `${name}` in option values stands for; only its `property` is asked.
    /// - Returns: The contexts, and all errors of the text, not only the first.
    public static func parse(_ text: SourceText, expansion: Expansion) -> Parsed<LoginConfFile> {
        var names = LoginNames()
        return parse(text, expansion: expansion, names: &names)
    }

    /// Reads one text of several.
    ///
    /// - Parameters:
    ///   - text: The content of a login.conf.
    ///   - expansion: What `${name}` in option values stands for; only its `property` is asked.
    ///   - names: The names read so far from all texts of the configuration; those of this text are added.
    /// - Returns: The contexts, and all errors of the text, not only the first.
    public static func parse(
        _ text: SourceText,
        expansion: Expansion,
        names: inout LoginNames
    ) -> Parsed<LoginConfFile> {
        if let fault = text.unreadable() {
            return Parsed(partial: LoginConfFile(text: text, entries: []), diagnostics: [fault])
        }
        var parser = LoginConfParser(text, dialect: .file(expansion))
        let entries = parser.parseFile(names: &names)
        return Parsed(partial: LoginConfFile(text: text, entries: entries), diagnostics: parser.diagnoses.inOrder)
    }
}

/// What stands in one login.conf.
public struct LoginConfFile: Sendable {
    /// The text it was read from.
    public let text: SourceText
    /// The login contexts in the order of the file.
    public let entries: [LoginEntry]
}
