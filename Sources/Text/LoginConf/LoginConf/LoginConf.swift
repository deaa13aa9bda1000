// SPDX-License-Identifier: Apache-2.0

/// The language of JAAS login configuration files.
///
/// An accepted text has the same contexts, modules, flags and options as in the JDK. A text that the JDK rejects is
/// rejected. These texts are also rejected, because the JDK misreads them without an error:
/// - a lone `/`, which begins a comment in the JDK;
/// - a string or a comment that is not closed;
/// - a byte order mark, and bytes that are not UTF-8;
/// - a context name that is neither a word nor in double quotes;
/// - a control flag with letters that are not ASCII;
/// - a context without modules.
///
/// If an option key is set twice in a module, the last value is used and a warning is given.
///
/// Source: OpenJDK 17 `sun.security.provider.ConfigFile` and `java.io.StreamTokenizer`. The conformance tests contain
/// recorded cases.
public enum LoginConf {
    /// Parses the only login.conf of a configuration.
    ///
    /// - Parameters:
    ///   - text: The text of the file.
    ///   - expansion: The properties for `${name}` in option values. The environment and the files of the
    ///     expansion are not used.
    /// - Returns: The contexts and all diagnostics.
    public static func parse(_ text: SourceText, expansion: Expansion) -> Parsed<LoginConfFile> {
        var names = LoginContextNames()
        return parse(text, expansion: expansion, names: &names)
    }

    /// Parses one login.conf of a configuration that may have several.
    ///
    /// - Parameters:
    ///   - text: The text of the file.
    ///   - expansion: The properties for `${name}` in option values. The environment and the files of the
    ///     expansion are not used.
    ///   - names: The context names of the files that have been parsed; the names of this text are added.
    /// - Returns: The contexts and all diagnostics.
    public static func parse(
        _ text: SourceText,
        expansion: Expansion,
        names: inout LoginContextNames
    ) -> Parsed<LoginConfFile> {
        if let fault = text.validationError() {
            return Parsed(partial: LoginConfFile(text: text, entries: []), diagnostics: [fault])
        }
        var parser = LoginConfParser(text, dialect: .file(expansion))
        let entries = parser.parseFile(names: &names)
        return Parsed(partial: LoginConfFile(text: text, entries: entries), diagnostics: parser.diagnostics.inOrder)
    }
}

/// The contexts of a login.conf.
public struct LoginConfFile: Sendable {
    /// The text that the contexts were read from.
    public let text: SourceText
    /// The login contexts in the order of the file.
    public let entries: [LoginEntry]
}
