// SPDX-License-Identifier: Apache-2.0

/// The properties of a kind of realm, or the options of a kind of module; all names are different.
public struct PropertySchema: Sendable, ExpressibleByArrayLiteral {
    /// The properties in the order of their declaration.
    public let properties: [Property]

    /// Creates a schema; if two properties have the same name, the later property is kept.
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

    /// Creates a schema of the listed properties.
    public init(arrayLiteral elements: Property...) {
        self.init(elements)
    }

    /// The property of a name; nil if there is none.
    ///
    /// - Parameter name: The name in the configuration.
    public subscript(name: String) -> Property? {
        properties.first { $0.name == name }
    }

    /// Returns a schema with the properties of two schemas.
    ///
    /// - Parameters:
    ///   - left: The first schema.
    ///   - right: The second schema. If both schemas declare a name, the property of the second schema is kept.
    /// - Returns: The schema.
    public static func + (left: PropertySchema, right: PropertySchema) -> PropertySchema {
        PropertySchema(left.properties + right.properties)
    }
}
