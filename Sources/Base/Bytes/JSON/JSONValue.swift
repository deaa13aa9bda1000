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

/// The characters of a string that are escaped in JSON.
package enum JSONEscapes: Sendable {
    /// Those that RFC 8259 section 7 requires: quotation marks, backslashes and control characters below U+0020.
    case required
    /// Also those that are special in HTML or JavaScript, so that the text is safe in both.
    case web
    /// Also those that control a terminal or change the direction of text.
    case terminal

    private func includes(_ scalar: Unicode.Scalar) -> Bool {
        switch (self, scalar) {
        case (.required, _): false
        case (.web, "<"), (.web, ">"), (.web, "&"), (.web, "\u{7F}"), (.web, "\u{2028}"), (.web, "\u{2029}"): true
        case (.web, _): false
        case (.terminal, _): LineText.isControl(scalar)
        }
    }

    func append(_ text: String, to bytes: inout [UInt8]) {
        let text = text.utf8Span.span
        bytes.append(addingCapacity: Self.capacity(for: text.count)) { output in append(text, to: &output) }
    }

    /// The maximum length of a string for a number of bytes: an escape sequence has at most six.
    package static func capacity(for count: Int) -> Int { 6 * count + 2 }

    /// Appends UTF-8 as a string with its quotation marks.
    package func append(_ text: Span<UInt8>, to output: inout OutputSpan<UInt8>) {
        output.append(UInt8(ascii: "\""))
        appendContent(text, to: &output)
        output.append(UInt8(ascii: "\""))
    }

    /// Appends UTF-8 as a part of a string.
    package func appendContent(_ text: Span<UInt8>, to output: inout OutputSpan<UInt8>) {
        var index = 0
        while index < text.count {
            let byte = text[index]
            let length = byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4
            let end = min(text.count, index + length)
            // All that is escaped is below U+10000.
            let scalar = length < 4 ? Self.scalar(text.extracting(index..<end)) : nil
            if let scalar, scalar.value < 0x20 || scalar == "\"" || scalar == "\\" || includes(scalar) {
                Self.escape(scalar, to: &output)
            } else {
                for place in index..<end { output.append(text[place]) }
            }
            index = end
        }
    }

    /// Returns the character of one to three bytes.
    private static func scalar(_ bytes: Span<UInt8>) -> Unicode.Scalar? {
        var value = UInt32(bytes[0])
        if bytes.count > 1 { value &= bytes.count == 2 ? 0x1F : 0x0F }
        for index in 1..<max(1, bytes.count) { value = value << 6 | UInt32(bytes[index] & 0x3F) }
        return Unicode.Scalar(value)
    }

    private static func escape(_ scalar: Unicode.Scalar, to output: inout OutputSpan<UInt8>) {
        output.append(UInt8(ascii: "\\"))
        switch scalar {
        case "\u{8}": output.append(UInt8(ascii: "b"))
        case "\t": output.append(UInt8(ascii: "t"))
        case "\n": output.append(UInt8(ascii: "n"))
        case "\u{C}": output.append(UInt8(ascii: "f"))
        case "\r": output.append(UInt8(ascii: "r"))
        case "\"", "\\": output.append(UInt8(ascii: scalar))
        case _:
            output.append(UInt8(ascii: "u"))
            for shift in [12, 8, 4, 0] as [UInt32] {
                output.append(Hexadecimal.digit(of: UInt8(scalar.value >> shift & 15)))
            }
        }
    }
}
