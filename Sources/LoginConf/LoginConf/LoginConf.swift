// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The language of JAAS login configuration files.
///
/// An accepted text has the same contexts, modules, flags and options as in the JDK. Rejected is everything that the
/// JDK rejects, and also what it misreads without an error: a lone `/` (which begins a comment there), a string ended
/// by the end of its line, an unclosed comment, a byte order mark, a context name that is neither a word nor in double
/// quotes, a flag in non-ASCII letters, a context without modules, bytes that are not UTF-8. An option key that is set
/// twice in a module gives a warning; the last value is used.
///
/// Source: OpenJDK 17 `sun.security.provider.ConfigFile` and `java.io.StreamTokenizer`; recorded cases in the
/// conformance tests.
public enum LoginConf {
    /// Reads a configuration of one text.
    ///
    /// - Parameters:
    ///   - text: The content of a login.conf.
    ///   - expansion: The values of `${name}` in option values; only its `property` is used.
    /// - Returns: The contexts, and all errors of the text, not only the first.
    public static func parse(_ text: SourceText, expansion: Expansion) -> Parsed<LoginConfFile> {
        var names = LoginNames()
        return parse(text, expansion: expansion, names: &names)
    }

    /// Reads one of several texts of a configuration.
    ///
    /// - Parameters:
    ///   - text: The content of a login.conf.
    ///   - expansion: The values of `${name}` in option values; only its `property` is used.
    ///   - names: The names in all texts of the configuration so far; those of this text are added.
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

/// The content of a login.conf.
public struct LoginConfFile: Sendable {
    /// The text it was read from.
    public let text: SourceText
    /// The login contexts in the order of the file.
    public let entries: [LoginEntry]
}
