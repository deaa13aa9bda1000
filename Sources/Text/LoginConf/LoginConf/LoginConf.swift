// SPDX-License-Identifier: Apache-2.0

internal import Bytes
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
    /// Parses the only login.conf of a configuration; see ``parse(_:expansion:names:)``.
    public static func parse(_ text: SourceText, expansion: Expansion) -> Parsed<LoginConfFile> {
        var names = LoginContextNames()
        return parse(text, expansion: expansion, names: &names)
    }

    /// Parses one login.conf of a configuration that may have several.
    ///
    /// The expansion has the properties for `${name}` in option values; its environment and files are not used. The names
    /// are those of the files that have been parsed; the names of this text are added.
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

/// The names of all login contexts of a configuration, in all its files.
///
/// A name must be unique in all files of a configuration, as in the JDK. Pass one `LoginContextNames` to all calls of
/// ``LoginConf/parse(_:expansion:names:)``, and add the names of `login` blocks to it.
public struct LoginContextNames: Sendable {
    // `String` treats canonically equivalent texts as equal, and the JDK does not.
    private var places: [UTF8Text: (text: Int, range: SourceRange)] = [:]
    private var texts: [SourceText] = []

    /// Creates an empty set of names.
    public init() {}

    /// Adds the name of a login context; returns an error if it has been added before, with a hint that shows the first place.
    public mutating func add(_ name: String, at range: SourceRange, in text: SourceText) -> Diagnostic? {
        if texts.last?.isCopy(of: text) != true { texts.append(text) }
        guard let first = places.updateValue((texts.count - 1, range), forKey: UTF8Text(name)) else { return nil }
        places[UTF8Text(name)] = first
        let hint = "the first one is at \(texts[first.text].place(of: first.range))"
        return text.error(at: range, "a second login context \(DiagnosticText.word(name))", hint: hint)
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
    /// undefined name is an error, a value that expands to nothing is an error, and an unclosed `${` is not changed. The
    /// content of a file may be any bytes.
    public func expandedBytes(by expansion: Expansion, in text: SourceText) throws(Diagnostic) -> [UInt8] {
        let isSecret = !text.names.isHarmless(key)
        let syntax = Expander.Syntax.jdkWithSources
        return try Expander(syntax: syntax, expansion: expansion, isSecret: isSecret, text: text, range: valueRange)
            .bytes(of: value)
    }
}
