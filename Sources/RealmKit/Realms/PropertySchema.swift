// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// One property of a realm, or one option of a module: its name, what it may hold, what it is when nobody sets it.
public struct Property: Sendable, Hashable {
    /// What a property may hold.
    public enum Kind: Sendable, Hashable {
        /// Any text.
        case string
        /// A whole number within bounds.
        case integer(ClosedRange<Int>)
        /// `true`, `yes`, `on`, `1` or `false`, `no`, `off`, `0`, in any case.
        case boolean
        /// A time such as `250ms`, `30s`, `5m`, `12h`, `7d`.
        case duration
        /// A file; a relative one is beside the file that names it.
        case path
        /// Any number of words.
        case list
        /// One of these words.
        case choice([String])
        /// Bytes nobody may see; kept in a ``Secret``.
        case secret
    }

    /// The name, as the configuration spells it.
    public let name: String
    /// What it may hold.
    public let kind: Kind
    /// What it is when it is not set, as the configuration would spell it.
    public let defaultText: String?
    /// Whether it must be set.
    public let isRequired: Bool

    /// A property of some kind.
    ///
    /// - Parameters:
    ///   - name: The name, as the configuration spells it.
    ///   - kind: What it may hold.
    ///   - defaultText: What it is when it is not set.
    ///   - isRequired: Whether it must be set.
    public init(_ name: String, _ kind: Kind, default defaultText: String? = nil, required isRequired: Bool = false) {
        self.name = name
        self.kind = kind
        self.defaultText = defaultText
        self.isRequired = isRequired
    }

    /// The entry of login.conf whose modules check the realm's users.
    ///
    /// - Parameter text: The entry's name when nobody sets it.
    /// - Returns: The property `jaas-context`.
    public static func jaasContext(default text: String) -> Property {
        Property("jaas-context", .string, default: text)
    }

    /// Any text, with a default.
    ///
    /// - Parameters:
    ///   - name: The name, as the configuration spells it.
    ///   - text: The value when nobody sets it.
    /// - Returns: The property.
    public static func string(_ name: String, default text: String) -> Property {
        Property(name, .string, default: text)
    }

    /// A property that must be set.
    ///
    /// - Parameters:
    ///   - name: The name, as the configuration spells it.
    ///   - kind: What it may hold.
    /// - Returns: The property.
    public static func required(_ name: String, _ kind: Kind = .string) -> Property {
        Property(name, kind, required: true)
    }

    /// A property that may be left out and then has no value.
    ///
    /// - Parameters:
    ///   - name: The name, as the configuration spells it.
    ///   - kind: What it may hold.
    /// - Returns: The property.
    public static func optional(_ name: String, _ kind: Kind = .string) -> Property {
        Property(name, kind)
    }
}

/// All properties of a kind of realm, or all options of a kind of module, each name once.
public struct PropertySchema: Sendable, ExpressibleByArrayLiteral {
    /// The properties, in the order in which they are declared.
    public let properties: [Property]

    /// A schema of these; of two with the same name the later counts.
    ///
    /// - Parameter properties: The properties.
    public init(_ properties: [Property]) {
        var kept: [Property] = []
        for property in properties {
            kept.removeAll { $0.name == property.name }
            kept.append(property)
        }
        self.properties = kept
    }

    /// A schema of the properties listed.
    public init(arrayLiteral elements: Property...) {
        self.init(elements)
    }

    /// The property of that name.
    ///
    /// - Parameter name: A name, as the configuration spells it.
    public subscript(name: String) -> Property? {
        properties.first { $0.name == name }
    }
}
