// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes
internal import RealmKit

/// The fields of a flat JSON object.
///
/// A value is a string, an array of strings, an integer of up to nine digits, true, false or null. Other numbers,
/// nested values and duplicate names are rejected, because parsers treat them differently and no request needs them. A
/// string is decoded directly into a ``Secret``. A string with a NUL character is rejected, because a C library would
/// read only the part before the NUL.
///
/// Source: RFC 8259.
struct JSONFields: Sendable {
    static let maximumBytes = 65_536
    /// The maximum number of fields, and of elements of an array.
    static let maximumCount = 64

    package enum Value: Sendable {
        /// A string, in UTF-8.
        case string(Secret)
        /// An array of strings, in UTF-8.
        case strings([Secret])
        case boolean(Bool)
        /// An integer from 0 to 999,999,999.
        case integer(Int)
        case null
    }

    private let values: [UTF8Text: Value]

    init(_ bytes: Span<UInt8>) throws(BadFields) {
        guard bytes.count <= Self.maximumBytes else { throw BadFields(.tooLong, at: Self.maximumBytes) }
        var position = 0
        values = try JSONFieldsParser.object(bytes, &position)
    }

    var count: Int { values.count }

    /// The names of the fields, in no order.
    var names: [UTF8Text] { Array(values.keys) }

    /// Returns the value of a field; nil if it was not sent.
    func value(_ name: UTF8Text) -> Value? { values[name] }

    /// Returns the string of a field; nil if the field does not exist or is not a string.
    func secret(_ name: UTF8Text) -> Secret? {
        if case .string(let secret)? = values[name] { secret } else { nil }
    }

    /// Returns the string of a field that is not a secret; nil if the field does not exist or is not a string.
    func text(_ name: UTF8Text) -> UTF8Text? { secret(name)?.utf8Text }

    /// Returns the strings of a field that are not secrets; nil if its value is not an array.
    func texts(_ name: UTF8Text) -> [UTF8Text]? {
        if case .strings(let secrets)? = values[name] { secrets.compactMap(\.utf8Text) } else { nil }
    }

    /// Returns the strings of a field; nil if the field does not exist or is not an array.
    func secrets(_ name: UTF8Text) -> [Secret]? {
        if case .strings(let secrets)? = values[name] { secrets } else { nil }
    }

    /// Returns the integer of a field; nil if the field does not exist or is not an integer.
    func integer(_ name: UTF8Text) -> Int? {
        if case .integer(let number)? = values[name] { number } else { nil }
    }

    /// Returns the Boolean value of a field; nil if the field does not exist or is not a Boolean.
    func boolean(_ name: UTF8Text) -> Bool? {
        if case .boolean(let value)? = values[name] { value } else { nil }
    }
}

/// The parser of ``JSONFields``; each function parses the text at a position, and moves the position to its end.
enum JSONFieldsParser {
    /// Parses an object, with no other text after it.
    static func object(_ bytes: Span<UInt8>, _ position: inout Int) throws(BadFields) -> [UTF8Text: JSONFields.Value] {
        var values: [UTF8Text: JSONFields.Value] = [:]
        try expect(UInt8(ascii: "{"), bytes, &position)
        if peek(bytes, &position) == UInt8(ascii: "}") {
            position += 1
        } else {
            repeat {
                guard peek(bytes, &position) == quote else { throw BadFields(.syntax, at: position) }
                let start = position
                guard let name = try string(bytes, &position).utf8Text else { throw BadFields(.notUTF8, at: start) }
                guard values[name] == nil else { throw BadFields(.repeated, at: start) }
                guard values.count < JSONFields.maximumCount else { throw BadFields(.tooMany, at: start) }
                try expect(UInt8(ascii: ":"), bytes, &position)
                values[name] = try value(bytes, &position)
            } while try hasNextElement(bytes, &position, until: UInt8(ascii: "}"))
        }
        guard peek(bytes, &position) == nil else { throw BadFields(.syntax, at: position) }
        return values
    }

    private static func value(_ bytes: Span<UInt8>, _ position: inout Int) throws(BadFields) -> JSONFields.Value {
        guard let first = peek(bytes, &position) else { throw BadFields(.syntax, at: position) }
        switch first {
        case quote: return .string(try string(bytes, &position))
        case UInt8(ascii: "["): return .strings(try strings(bytes, &position))
        case UInt8(ascii: "t"):
            try literal("true", bytes, &position)
            return .boolean(true)
        case UInt8(ascii: "f"):
            try literal("false", bytes, &position)
            return .boolean(false)
        case UInt8(ascii: "n"):
            try literal("null", bytes, &position)
            return .null
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return .integer(try integer(bytes, &position))
        default: throw unsupportedValue(first, at: position)
        }
    }

    private static func strings(_ bytes: Span<UInt8>, _ position: inout Int) throws(BadFields) -> [Secret] {
        var strings: [Secret] = []
        position += 1
        if peek(bytes, &position) == UInt8(ascii: "]") {
            position += 1
            return strings
        }
        repeat {
            guard let first = peek(bytes, &position) else { throw BadFields(.syntax, at: position) }
            guard first == quote else { throw unsupportedValue(first, at: position) }
            guard strings.count < JSONFields.maximumCount else { throw BadFields(.tooMany, at: position) }
            strings.append(try string(bytes, &position))
        } while try hasNextElement(bytes, &position, until: UInt8(ascii: "]"))
        return strings
    }

    /// Parses an integer of up to nine digits; no field needs a longer number or a fraction.
    private static func integer(_ bytes: Span<UInt8>, _ position: inout Int) throws(BadFields) -> Int {
        let start = position
        var number = 0
        while position < bytes.count, (0x30...0x39).contains(bytes[position]), position - start < 9 {
            number = number * 10 + Int(bytes[position] - 0x30)
            position += 1
        }
        let hasLeadingZero = bytes[start] == UInt8(ascii: "0") && position > start + 1
        // True if a tenth digit, a fraction or an exponent follows.
        let isTooLong =
            position < bytes.count && (".eE".utf8.contains(bytes[position]) || (0x30...0x39).contains(bytes[position]))
        guard !hasLeadingZero, !isTooLong else { throw BadFields(.number, at: start) }
        return number
    }

    private static func unsupportedValue(_ first: UInt8, at position: Int) -> BadFields {
        switch first {
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): BadFields(.number, at: position)
        case UInt8(ascii: "{"), UInt8(ascii: "["): BadFields(.nested, at: position)
        default: BadFields(.syntax, at: position)
        }
    }

    // MARK: Strings

    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")

    private static func string(_ bytes: Span<UInt8>, _ position: inout Int) throws(BadFields) -> Secret {
        let start = position + 1
        var end = start
        while end < bytes.count, bytes[end] != quote { end += bytes[end] == backslash ? 2 : 1 }
        guard end < bytes.count else { throw BadFields(.syntax, at: position) }
        // A decoded escape sequence is never longer than the encoded sequence.
        let secret = try Secret(capacity: end - start) { output throws(BadFields) in
            var index = start
            while index < end {
                let byte = bytes[index]
                guard byte >= 0x20 else { throw BadFields(.controlCharacter, at: index) }
                index += 1
                if byte == backslash {
                    try escape(bytes.extracting(0..<end), &index, into: &output)
                } else {
                    output.append(byte)
                }
            }
        }
        guard secret.isUTF8 else { throw BadFields(.notUTF8, at: start) }
        position = end + 1
        return secret
    }

    private static func escape(
        _ bytes: Span<UInt8>,
        _ index: inout Int,
        into output: inout OutputSpan<UInt8>
    ) throws(BadFields) {
        let start = index - 1
        index += 1
        switch bytes[start + 1] {
        case quote: output.append(quote)
        case backslash: output.append(backslash)
        case UInt8(ascii: "/"): output.append(UInt8(ascii: "/"))
        case UInt8(ascii: "b"): output.append(0x08)
        case UInt8(ascii: "f"): output.append(0x0C)
        case UInt8(ascii: "n"): output.append(0x0A)
        case UInt8(ascii: "r"): output.append(0x0D)
        case UInt8(ascii: "t"): output.append(0x09)
        case UInt8(ascii: "u"):
            for byte in UTF8.encode(try scalar(bytes, &index, start)) ?? .init() { output.append(byte) }
        default: throw BadFields(.badEscape, at: start)
        }
    }

    /// Parses a `\u` escape sequence, or two sequences that form a surrogate pair.
    private static func scalar(
        _ bytes: Span<UInt8>,
        _ index: inout Int,
        _ start: Int
    ) throws(BadFields) -> Unicode.Scalar {
        let first = try unit(bytes, &index, start)
        guard first != 0 else { throw BadFields(.nul, at: start) }
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xDC00, index + 1 < bytes.count, bytes[index] == backslash, bytes[index + 1] == UInt8(ascii: "u")
        else { throw BadFields(.loneSurrogate, at: start) }
        index += 2
        let second = try unit(bytes, &index, start)
        guard second >= 0xDC00, second < 0xE000,
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw BadFields(.loneSurrogate, at: start) }
        return scalar
    }

    private static func unit(_ bytes: Span<UInt8>, _ index: inout Int, _ start: Int) throws(BadFields) -> UInt32 {
        guard index + 4 <= bytes.count else { throw BadFields(.badEscape, at: start) }
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = Hexadecimal.value(of: bytes[index]) else { throw BadFields(.badEscape, at: start) }
            unit = unit << 4 | UInt32(digit)
            index += 1
        }
        return unit
    }

    // MARK: Tokens

    /// Skips white space and returns the next byte; nil at the end of the text.
    private static func peek(_ bytes: Span<UInt8>, _ position: inout Int) -> UInt8? {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return bytes[position]
            }
        }
        return nil
    }

    private static func expect(_ byte: UInt8, _ bytes: Span<UInt8>, _ position: inout Int) throws(BadFields) {
        guard peek(bytes, &position) == byte else { throw BadFields(.syntax, at: position) }
        position += 1
    }

    /// Parses the delimiter after an element; true if another element follows.
    private static func hasNextElement(
        _ bytes: Span<UInt8>,
        _ position: inout Int,
        until close: UInt8
    ) throws(BadFields) -> Bool {
        let next = peek(bytes, &position)
        guard next == UInt8(ascii: ",") || next == close else { throw BadFields(.syntax, at: position) }
        position += 1
        return next != close
    }

    private static func literal(
        _ text: StaticString,
        _ bytes: Span<UInt8>,
        _ position: inout Int
    ) throws(BadFields) {
        for byte in text.description.utf8 {
            guard position < bytes.count, bytes[position] == byte else { throw BadFields(.syntax, at: position) }
            position += 1
        }
    }
}
