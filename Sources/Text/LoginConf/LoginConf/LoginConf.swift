// SPDX-License-Identifier: Apache-2.0

public import RealmKit

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
        var parser = Parser(text, .loginConf, expansion: expansion)
        let entries = parser.parseContexts(names: &names)
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

/// A login context: a name and the modules of its stack.
///
/// Names are compared byte by byte, as in the JDK. `String` treats canonically equivalent names as equal.
public struct LoginEntry: Sendable, Hashable {
    /// The name of the context; it may be empty, as in the JDK.
    public let name: String
    /// The place of the name.
    public internal(set) var nameRange = SourceRange.none
    /// The modules in the order of the stack; the parser reports a context without modules.
    public let modules: [ModuleEntry]
}

/// One module of a login context.
public struct ModuleEntry: Sendable, Hashable {
    /// The class name of the module.
    ///
    /// The parser does not check that there is such a module, but it reports an empty name.
    public let className: String
    /// The place of the class name.
    public internal(set) var classRange = SourceRange.none
    /// The control flag; `required` if there is a table of outcomes instead.
    public let flag: ControlFlag
    /// The table of outcomes that replaces the control flag; empty if there is a flag.
    public internal(set) var outcomes: [OutcomeRule] = []
    /// The place of the flag or of the table.
    public internal(set) var flagRange = SourceRange.none
    /// The options in the order of the text.
    ///
    /// If a key is set several times, the array has only the last value, at the position of the first.
    public internal(set) var options: [ModuleOption] = []

    /// The control flag or the table of outcomes, as in reports.
    public var control: String { outcomes.isEmpty ? flag.rawValue : outcomes.text }
}

/// An option of a module.
public struct ModuleOption: Sendable, Hashable {
    /// The key: any text, compared byte by byte.
    public let key: String
    /// The place of the key.
    public internal(set) var keyRange = SourceRange.none
    /// The value.
    ///
    /// The value of an option in login.conf is already expanded. In a `login` block of realms.conf it is not expanded;
    /// see ``expandedBytes(by:in:)``.
    public let value: String
    /// The place of the value, with its quotes.
    public internal(set) var valueRange = SourceRange.none
}

extension ModuleOption {
    /// Returns the expanded value of an option of a `login` block of realms.conf as bytes.
    ///
    /// `${name}`, `${/}`, `${env:NAME}` and `${file:PATH}` are replaced. The other rules are those of login.conf: an
    /// undefined name is an error, a value that expands to nothing is an error, and an unclosed `${` is not changed.
    ///
    /// - Parameters:
    ///   - expansion: The values of the references.
    ///   - text: The text that the option was read from.
    /// - Returns: The bytes; the content of a file may be any bytes.
    /// - Throws: An error if the value cannot be expanded.
    public func expandedBytes(by expansion: Expansion, in text: SourceText) throws(Diagnostic) -> [UInt8] {
        let isSecret = !text.names.isHarmless(key)
        let syntax = Expander.Syntax.jdkWithSources
        return try Expander(syntax: syntax, expansion: expansion, isSecret: isSecret, text: text, range: valueRange)
            .bytes(of: value)
    }
}
