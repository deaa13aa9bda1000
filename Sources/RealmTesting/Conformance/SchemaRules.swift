// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit

/// What a schema has to be like, whether it is a realm's or a module's.
struct SchemaRules {
    let schema: PropertySchema
    let reserved: Set<String>

    init(_ schema: PropertySchema, reserved: Set<String>) {
        self.schema = schema
        self.reserved = reserved
    }

    func violations() -> [String] {
        let names = schema.properties.map(\.name)
        var violations = names.flatMap { NameRules.violations(ofWord: $0, "property") }
        for name in names where reserved.contains(name) {
            violations.append("the property \(name) has a name that everything of its kind has already")
        }
        for (index, name) in names.enumerated() {
            let twin = names[..<index].first { $0.lowercased() == name.lowercased() }
            if let twin { violations.append("the properties \(twin) and \(name) differ in case only") }
        }
        return violations + schema.properties.flatMap(violations(of:))
    }

    private func violations(of property: Property) -> [String] {
        guard let text = property.defaultText else { return [] }
        guard !property.isRequired else { return ["\(property.name) is required and has a default"] }
        do throws(BadValue) {
            let words = property.kind == .list ? text.split(separator: " ").map(String.init) : [text]
            _ = try PropertyValue(words, as: property.kind)
            return []
        } catch {
            return ["the default of \(property.name) cannot be: it \(error)"]
        }
    }
}

/// What a name has to be like that stands in a configuration.
enum NameRules {
    static func violations(of names: [String], _ what: String) -> [String] {
        var violations = names.flatMap { Self.violations(ofWord: $0, what) }
        if names.isEmpty { violations.append("there is no \(what)") }
        for (index, name) in names.enumerated() where names[..<index].contains(name) {
            violations.append("the \(what) \(name) stands twice")
        }
        return violations
    }

    static func violations(ofWord word: String, _ what: String) -> [String] {
        guard !word.isEmpty else { return ["a \(what) is empty"] }
        let isPlain = word.unicodeScalars.allSatisfy { scalar in
            (0x21...0x7E).contains(scalar.value) && !"\";{}#".unicodeScalars.contains(scalar)
        }
        return isPlain ? [] : ["the \(what) \(word.debugDescription) cannot stand in a configuration without quotes"]
    }

    static func violations(ofText text: String, _ what: String) -> [String] {
        if text.isEmpty { return ["\(what) is empty"] }
        let isPlain = text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        return isPlain ? [] : ["\(what) holds a control character"]
    }
}
