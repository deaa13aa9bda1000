// SPDX-License-Identifier: Apache-2.0

/// A value of JSON (RFC 8259), to write it or to read a whole text.
package enum JSONValue: Sendable {
    case null
    case boolean(Bool)
    case number(Int)
    /// A number that was read and is not an `Int`.
    case otherNumber
    case text(String)
    case array([JSONValue])
    /// The members in the order of the text, each name once.
    case object([(name: String, value: JSONValue)])

    package static func texts(_ texts: [String]) -> JSONValue { .array(texts.map(JSONValue.text)) }

    /// An object with lists of texts, sorted by name.
    package static func lists(_ lists: [String: [String]]) -> JSONValue { sorted(lists.map { ($0, .texts($1)) }) }

    /// An object with members in the order of their names.
    package static func sorted(_ members: [(name: String, value: JSONValue)]) -> JSONValue {
        .object(members.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) })
    }

    /// The value of a member; nil if this is no object, or has no such member, or it is null.
    package subscript(_ name: String) -> JSONValue? {
        guard case .object(let members) = self, let found = members.first(where: { $0.name.hasBytes(of: name) }) else {
            return nil
        }
        if case .null = found.value { return nil }
        return found.value
    }
}

extension JSONValue: ExpressibleByDictionaryLiteral {
    /// Creates an object with members in the order of their names; a member without a value is left out.
    package init(dictionaryLiteral members: (String, JSONValue?)...) {
        self = Self.sorted(members.compactMap { name, value in value.map { (name, $0) } })
    }
}

extension JSONValue {
    /// Reads a whole text.
    package init(reading bytes: Span<UInt8>, maximumNames: Int = JSONReader.maximumNames) throws(JSONFault) {
        var reader = JSONReader(maximumNames: maximumNames)
        self = try Self.next(bytes, &reader)
        try reader.finish(bytes)
    }

    private static func next(_ bytes: Span<UInt8>, _ reader: inout JSONReader) throws(JSONFault) -> JSONValue {
        switch try reader.value(bytes) {
        case .null: return .null
        case .boolean(let value): return .boolean(value)
        case .number(let digits):
            let text = JSONReader.text(digits, of: bytes)
            return (Int(text) ?? Double(text).flatMap { Int(exactly: $0) }).map(JSONValue.number) ?? .otherNumber
        case .string(let string): return .text(JSONReader.text(string, of: bytes))
        case .array:
            var elements: [JSONValue] = []
            while try reader.element(bytes) { elements.append(try next(bytes, &reader)) }
            return .array(elements)
        case .object:
            var members: [(name: String, value: JSONValue)] = []
            while let name = try reader.member(bytes) { members.append((name.string, try next(bytes, &reader))) }
            return .object(members)
        }
    }
}

extension JSONValue {
    package var asText: String? { if case .text(let text) = self { text } else { nil } }
    package var asNumber: Int? { if case .number(let number) = self { number } else { nil } }
    package var asBoolean: Bool? { if case .boolean(let value) = self { value } else { nil } }

    package var asTexts: [String]? {
        guard case .array(let elements) = self else { return nil }
        let texts = elements.compactMap(\.asText)
        return texts.count == elements.count ? texts : nil
    }

    /// The members of an object, each of which is an array of texts or one text.
    package var asLists: [String: [String]]? {
        guard case .object(let members) = self else { return nil }
        let lists = members.compactMap { member in
            (member.value.asTexts ?? member.value.asText.map { [$0] }).map { (member.name, $0) }
        }
        return lists.count == members.count ? Dictionary(lists) { first, _ in first } : nil
    }

    /// True if an array or an object is not empty; nil for another value.
    package var hasParts: Bool? {
        switch self {
        case .array(let elements): !elements.isEmpty
        case .object(let members): !members.isEmpty
        case .null, .boolean, .number, .otherNumber, .text: nil
        }
    }
}

extension JSONValue {
    /// Returns the JSON text on one line.
    package func text(_ escapes: JSONEscapes) -> String { String(decoding: bytes(escapes), as: UTF8.self) }

    /// Returns the JSON text on one line, in UTF-8.
    ///
    /// Texts keep their bytes: an encoder that normalizes them would change the `sub` of a token.
    package func bytes(_ escapes: JSONEscapes) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(512)
        write(to: &bytes, escapes)
        return bytes
    }

    private func write(to bytes: inout [UInt8], _ escapes: JSONEscapes) {
        switch self {
        case .null, .otherNumber: bytes += "null".utf8
        case .boolean(let value): bytes += (value ? "true" : "false").utf8
        case .number(let number): ASCII.append(decimal: number, to: &bytes)
        case .text(let text): escapes.append(text, to: &bytes)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(ASCII.comma) }
                element.write(to: &bytes, escapes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(ASCII.comma) }
                escapes.append(member.name, to: &bytes)
                bytes.append(ASCII.colon)
                member.value.write(to: &bytes, escapes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }
}
