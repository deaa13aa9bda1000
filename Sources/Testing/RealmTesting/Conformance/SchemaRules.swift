// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

/// The rules for the schema of a realm or of a module.
struct SchemaRules {
    let schema: PropertySchema
    let reserved: Set<String>

    init(_ schema: PropertySchema, reserved: Set<String>) {
        self.schema = schema
        self.reserved = reserved
    }

    func violations() -> [String] {
        let names = schema.properties.map(\.name)
        var violations = names.flatMap { NameRules.violations(ofWord: $0, kind: "property") }
        for name in names where reserved.contains(name) {
            violations.append("the property name \(name) is reserved")
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
            return ["the default of \(property.name) is invalid: it \(error)"]
        }
    }
}

/// The rules for a name in a configuration.
enum NameRules {
    static func violations(of names: [String], kind: String) -> [String] {
        var violations = names.flatMap { Self.violations(ofWord: $0, kind: kind) }
        if names.isEmpty { violations.append("there is no \(kind)") }
        for (index, name) in names.enumerated() where names[..<index].contains(name) {
            violations.append("the \(kind) \(name) is listed twice")
        }
        return violations
    }

    static func violations(ofWord word: String, kind: String) -> [String] {
        guard !word.isEmpty else { return ["a \(kind) is empty"] }
        let isPlain = word.unicodeScalars.allSatisfy { scalar in
            (0x21...0x7E).contains(scalar.value) && !"\";{}#".unicodeScalars.contains(scalar)
        }
        return isPlain ? [] : ["the \(kind) \(word.debugDescription) needs quotes in a configuration"]
    }

    static func violations(ofText text: String, name: String) -> [String] {
        if text.isEmpty { return ["\(name) is empty"] }
        let isPlain = text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
        return isPlain ? [] : ["\(name) contains a control character"]
    }
}
