// SPDX-License-Identifier: Apache-2.0

public import RealmKit

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
