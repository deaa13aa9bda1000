// SPDX-License-Identifier: Apache-2.0

package import Files

/// The declaration of a property of a realm, or of an option of a module: its name, its kind and its default.
public struct Property: Sendable, Hashable {
    /// The kinds of values.
    public enum Kind: Sendable, Hashable {
        /// A text.
        case string
        /// A whole number within bounds.
        case integer(ClosedRange<Int>)
        /// `true`, `yes`, `on`, `1` or `false`, `no`, `off`, `0`, in any case.
        case boolean
        /// A duration such as `250ms`, `30s`, `5m`, `12h`, `7d`.
        case duration
        /// A path; a relative path is resolved against the folder of the configuration file that contains it.
        case path
        /// A text such as a URI, or the scheme of files, a colon and a path: `sqlite:users.db` for the scheme `sqlite`.
        ///
        /// A relative path is resolved as for ``path``.
        case location(fileScheme: String)
        /// Any number of words.
        case list
        /// One of these words.
        case choice([String])
        /// Confidential bytes, kept in a ``Secret``.
        case secret
        /// The name of another realm of the configuration; only a realm can have such a property.
        ///
        /// The other realm is created first. A realm cannot refer to itself, directly or through other realms.
        case realm
        /// The names of other realms of the configuration, each once; see ``realm``.
        case realms
    }

    /// The name in the configuration.
    public let name: String
    /// The kind of its value.
    public let kind: Kind
    /// The default, spelled as in a configuration; nil if there is none.
    public let defaultText: String?
    /// True if the configuration must set it.
    public let isRequired: Bool
    /// The kind of the file that a path or a location names, which decides how its owner and mode are checked.
    package var fileUse = FileTrust.Use.settings

    /// Declares a property.
    public init(_ name: String, _ kind: Kind, default defaultText: String? = nil, required isRequired: Bool = false) {
        self.name = name
        self.kind = kind
        self.defaultText = defaultText
        self.isRequired = isRequired
    }

    /// Declares `jaas-context`: the entry of login.conf whose modules authenticate the realm's users.
    public static func jaasContext(default text: String) -> Property {
        Property("jaas-context", .string, default: text)
    }

    /// Declares a text with a default.
    public static func string(_ name: String, default text: String) -> Property {
        Property(name, .string, default: text)
    }

    /// Declares a property that must be set.
    public static func required(_ name: String, _ kind: Kind = .string) -> Property {
        Property(name, kind, required: true)
    }

    /// Declares a property that has no value unless it is set; see ``Settings/has(_:)``.
    public static func optional(_ name: String, _ kind: Kind = .string) -> Property { Property(name, kind) }

    package func naming(_ use: FileTrust.Use) -> Property {
        var property = self
        property.fileUse = use
        return property
    }
}

/// The properties of a kind of realm, or the options of a kind of module; all names are different.
public struct PropertySchema: Sendable, ExpressibleByArrayLiteral {
    /// The properties in the order of their declaration.
    public let properties: [Property]

    /// Creates a schema; if two properties have the same name, the later property is kept.
    public init(_ properties: [Property]) {
        var kept: [Property] = []
        for property in properties {
            kept.removeAll { $0.name == property.name }
            kept.append(property)
        }
        self.properties = kept
    }

    /// Creates a schema of the listed properties.
    public init(arrayLiteral elements: Property...) { self.init(elements) }

    /// The property of a name; nil if there is none.
    public subscript(name: String) -> Property? { properties.first { $0.name == name } }

    /// Returns a schema with the properties of two schemas.
    public static func + (left: PropertySchema, right: PropertySchema) -> PropertySchema {
        PropertySchema(left.properties + right.properties)
    }
}
