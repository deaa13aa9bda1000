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

/// A login context: a name and the modules of its stack.
///
/// Names are compared byte by byte, as in the JDK. `String` treats canonically equivalent names as equal.
public struct LoginEntry: Sendable, Hashable {
    /// The name of the context; it may be empty, as in the JDK.
    public let name: String
    /// The place of the name.
    public let nameRange: SourceRange
    /// The modules in the order of the stack; the parser reports a context without modules.
    public let modules: [ModuleEntry]

    /// Creates a login context.
    public init(name: String, nameRange: SourceRange = .none, modules: [ModuleEntry]) {
        self.name = name
        self.nameRange = nameRange
        self.modules = modules
    }
}

/// One module of a login context.
public struct ModuleEntry: Sendable, Hashable {
    /// The class name of the module.
    ///
    /// The parser does not check that there is such a module, but it reports an empty name.
    public let className: String
    /// The place of the class name.
    public let classRange: SourceRange
    /// The control flag; `required` if there is a table of outcomes instead.
    public let flag: ControlFlag
    /// The table of outcomes that replaces the control flag; empty if there is a flag.
    public let outcomes: [OutcomeRule]
    /// The place of the flag or of the table.
    public let flagRange: SourceRange
    /// The options in the order of the text.
    ///
    /// If a key is set several times, the array has only the last value, at the position of the first.
    public let options: [ModuleOption]

    /// The control flag or the table of outcomes, as in reports.
    public var control: String { outcomes.isEmpty ? flag.rawValue : outcomes.text }

    /// Creates a module of a login context.
    public init(
        className: String,
        classRange: SourceRange = .none,
        flag: ControlFlag,
        outcomes: [OutcomeRule] = [],
        flagRange: SourceRange = .none,
        options: [ModuleOption] = []
    ) {
        self.className = className
        self.classRange = classRange
        self.flag = flag
        self.outcomes = outcomes
        self.flagRange = flagRange
        self.options = options
    }
}

/// An option of a module.
public struct ModuleOption: Sendable, Hashable {
    /// The key: any text, compared byte by byte.
    public let key: String
    /// The place of the key.
    public let keyRange: SourceRange
    /// The value.
    ///
    /// The value of an option in login.conf is already expanded. In a `login` block of realms.conf it is not expanded;
    /// see ``ModuleEntry/expanded(by:in:)``.
    public let value: String
    /// The place of the value, with its quotes.
    public let valueRange: SourceRange

    /// Creates an option.
    public init(key: String, keyRange: SourceRange = .none, value: String, valueRange: SourceRange = .none) {
        self.key = key
        self.keyRange = keyRange
        self.value = value
        self.valueRange = valueRange
    }
}

extension ModuleEntry {
    /// Returns a module of a `login` block of realms.conf with its option values expanded.
    ///
    /// `${name}`, `${/}`, `${env:NAME}` and `${file:PATH}` are replaced. The other rules are those of login.conf: an
    /// undefined name is an error, a value that expands to nothing is an error, and an unclosed `${` is not changed.
    ///
    /// - Parameters:
    ///   - expansion: The values of the references.
    ///   - text: The text that the module was read from.
    /// - Returns: The module; the ranges of its parts stay the same.
    /// - Throws: One error for each value that cannot be expanded.
    public func expanded(by expansion: Expansion, in text: SourceText) throws(ConfigurationErrors) -> ModuleEntry {
        var diagnostics: [Diagnostic] = []
        var expanded: [ModuleOption] = []
        for option in options {
            do throws(Diagnostic) {
                let isSecret = !text.names.isHarmless(option.key)
                let expander = Expander(syntax: .jdkWithSources, expansion: expansion, isSecret: isSecret)
                let value = try expander.string(of: option.value, at: option.valueRange, in: text)
                expanded.append(option.with(value: value))
            } catch {
                diagnostics.append(error)
            }
        }
        if let errors = ConfigurationErrors(diagnostics) { throw errors }
        return ModuleEntry(
            className: className,
            classRange: classRange,
            flag: flag,
            outcomes: outcomes,
            flagRange: flagRange,
            options: expanded
        )
    }
}

extension ModuleOption {
    /// Returns the expanded value of an option of a `login` block as bytes.
    ///
    /// Use it for secrets: the content of a file is not converted to a `String`.
    ///
    /// - Parameters:
    ///   - expansion: The values of the references.
    ///   - text: The text that the option was read from.
    /// - Returns: The bytes; the content of a file may be any bytes.
    /// - Throws: An error if the value cannot be expanded.
    public func expandedBytes(by expansion: Expansion, in text: SourceText) throws(Diagnostic) -> [UInt8] {
        let isSecret = !text.names.isHarmless(key)
        return try Expander(syntax: .jdkWithSources, expansion: expansion, isSecret: isSecret)
            .bytes(of: value, at: valueRange, in: text)
    }

    fileprivate func with(value: String) -> ModuleOption {
        ModuleOption(key: key, keyRange: keyRange, value: value, valueRange: valueRange)
    }
}
