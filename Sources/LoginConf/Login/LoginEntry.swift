// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmKit

/// A login context: a name and the modules that are asked when somebody logs in under it.
///
/// Names are compared byte by byte, as the JDK compares them, not by canonical equivalence as `String` does.
public struct LoginEntry: Sendable, Hashable {
    /// The context's name; the empty name is legal, as in the JDK.
    public let name: String
    /// Where the name stands.
    public let nameRange: SourceRange
    /// The modules in the order they are asked; never empty when read from a text.
    public let modules: [ModuleEntry]

    /// A login context.
    public init(name: String, nameRange: SourceRange = .none, modules: [ModuleEntry]) {
        self.name = name
        self.nameRange = nameRange
        self.modules = modules
    }
}

/// One module of a login context.
public struct ModuleEntry: Sendable, Hashable {
    /// The module's class name, not empty when read from a text; whether there is such a module is not checked.
    public let className: String
    /// Where the class name stands.
    public let classRange: SourceRange
    /// How much the module counts.
    public let flag: ControlFlag
    /// Where the flag stands.
    public let flagRange: SourceRange
    /// The options in the order written.
    ///
    /// Of options with the same key only the last value is kept, at the place of the first.
    public let options: [ModuleOption]

    /// A module of a login context.
    public init(
        className: String,
        classRange: SourceRange = .none,
        flag: ControlFlag,
        flagRange: SourceRange = .none,
        options: [ModuleOption] = []
    ) {
        self.className = className
        self.classRange = classRange
        self.flag = flag
        self.flagRange = flagRange
        self.options = options
    }
}

/// An option of a module.
public struct ModuleOption: Sendable, Hashable {
    /// The key; any text, compared byte by byte.
    public let key: String
    /// Where the key stands.
    public let keyRange: SourceRange
    /// The value: expanded if read from login.conf; from an inline block of realms.conf as written, see
    /// ``ModuleEntry/expanded(by:in:)``.
    public let value: String
    /// Where the value stands, with its quotes.
    public let valueRange: SourceRange

    /// An option of a module.
    public init(key: String, keyRange: SourceRange = .none, value: String, valueRange: SourceRange = .none) {
        self.key = key
        self.keyRange = keyRange
        self.value = value
        self.valueRange = valueRange
    }
}
