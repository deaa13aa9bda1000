// SPDX-License-Identifier: Apache-2.0

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

    enum Value: Sendable {
        case string(Secret)
        case strings([Secret])
        case boolean(Bool)
        /// An integer from 0 to 999,999,999.
        case integer(Int)
        case null
    }

    let values: [UTF8Text: Value]

    init(_ bytes: Span<UInt8>) throws(BadFields) {
        guard bytes.count <= Self.maximumBytes else { throw BadFields(.tooLong, at: Self.maximumBytes) }
        values = try Result { () throws(JSONFault) in try Self.read(bytes) }.mapError { BadFields($0) }.get()
    }

    /// Returns the string of a field; nil if the field does not exist or is not a string.
    func secret(_ name: UTF8Text) -> Secret? {
        if case .string(let secret)? = values[name] { secret } else { nil }
    }

    func text(_ name: UTF8Text) -> UTF8Text? { secret(name)?.utf8Text }

    func secrets(_ name: UTF8Text) -> [Secret]? {
        if case .strings(let secrets)? = values[name] { secrets } else { nil }
    }

    func integer(_ name: UTF8Text) -> Int? {
        if case .integer(let number)? = values[name] { number } else { nil }
    }
}

extension JSONFields {
    private static func read(_ bytes: Span<UInt8>) throws(JSONFault) -> [UTF8Text: Value] {
        var reader = JSONReader(maximumNames: maximumCount, acceptsNUL: false)
        guard case .object = try reader.value(bytes) else { throw unsupported(.syntax, reader) }
        var values: [UTF8Text: Value] = [:]
        while let name = try reader.member(bytes) { values[name] = try value(bytes, &reader) }
        try reader.finish(bytes)
        return values
    }

    private static func value(_ bytes: Span<UInt8>, _ reader: inout JSONReader) throws(JSONFault) -> Value {
        switch try reader.value(bytes) {
        case .string(let string): return .string(secret(string, of: bytes))
        case .boolean(let value): return .boolean(value)
        case .null: return .null
        case .number(let digits):
            // No field needs a longer number or a fraction.
            guard digits.count <= 9, bytes[digits.lowerBound] != UInt8(ascii: "-"),
                let number = Int(JSONReader.text(digits, of: bytes))
            else {
                throw unsupported(.number, reader)
            }
            return .integer(number)
        case .object: throw unsupported(.nested, reader)
        case .array:
            var strings: [Secret] = []
            while try reader.element(bytes) { strings.append(try element(bytes, &reader, number: strings.count)) }
            return .strings(strings)
        }
    }

    private static func element(
        _ bytes: Span<UInt8>,
        _ reader: inout JSONReader,
        number: Int
    ) throws(JSONFault) -> Secret {
        switch try reader.value(bytes) {
        case .string(let string):
            guard number < maximumCount else { throw unsupported(.tooMany, reader) }
            return secret(string, of: bytes)
        case .number: throw unsupported(.number, reader)
        case .object, .array: throw unsupported(.nested, reader)
        case .boolean, .null: throw unsupported(.syntax, reader)
        }
    }

    private static func unsupported(_ code: JSONFault.Code, _ reader: JSONReader) -> JSONFault {
        JSONFault(code, "a value that no field has", at: reader.start)
    }

    private static func secret(_ string: Range<Int>, of bytes: Span<UInt8>) -> Secret {
        Secret(capacity: string.count) { output in JSONReader.append(string, of: bytes, to: &output) }
    }
}

extension BadFields {
    fileprivate init(_ fault: JSONFault) {
        let code: Code =
            switch fault.code {
            case .incomplete, .syntax: .syntax
            case .number: .number
            case .controlCharacter: .controlCharacter
            case .escape: .badEscape
            case .loneSurrogate: .loneSurrogate
            case .nul: .nul
            case .notUTF8: .notUTF8
            case .repeated: .repeated
            case .tooMany: .tooMany
            case .nested: .nested
            }
        self.init(code, at: fault.offset)
    }
}
