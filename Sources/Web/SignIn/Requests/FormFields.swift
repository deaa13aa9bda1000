// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import RealmKit

/// The fields of a form or a query in the format `application/x-www-form-urlencoded`.
///
/// Every value is decoded directly into a ``Secret``, because any field may be a password. Input that two parsers might
/// read differently is rejected: a duplicate name, an invalid percent-encoding, a NUL character.
///
/// Source: the URL Standard, section 5.1.
struct FormFields: Sendable {
    static let maximumBytes = 65_536
    static let maximumCount = 64

    private(set) var values: [UTF8Text: Secret] = [:]

    /// Parses the body of a form, or a query without its `?`.
    init(_ bytes: Span<UInt8>) throws(BadFields) {
        guard bytes.count <= Self.maximumBytes else { throw BadFields(.tooLong, at: Self.maximumBytes) }
        var start = 0
        while start < bytes.count {
            let end = Self.end(of: bytes, start..<bytes.count, UInt8(ascii: "&"))
            defer { start = end + 1 }
            guard end > start else { continue }
            let equals = Self.end(of: bytes, start..<end, UInt8(ascii: "="))
            guard let name = try Self.decode(bytes, start..<equals).utf8Text else {
                throw BadFields(.notUTF8, at: start)
            }
            guard values[name] == nil else { throw BadFields(.repeated, at: start) }
            guard values.count < Self.maximumCount else { throw BadFields(.tooMany, at: start) }
            values[name] = try Self.decode(bytes, min(equals + 1, end)..<end)
        }
    }

    /// Parses the fields of a query; nil if the query is malformed.
    init?(query: String) {
        guard let fields = try? FormFields(query.utf8Span.span) else { return nil }
        self = fields
    }

    func secret(_ name: UTF8Text) -> Secret? { values[name] }

    /// Returns the value of a field that is not a secret; nil if the field was not sent.
    func text(_ name: UTF8Text) throws(BadFields) -> UTF8Text? {
        guard let value = values[name] else { return nil }
        guard let text = value.utf8Text else { throw BadFields(.notUTF8, at: 0) }
        return text
    }

    /// Returns the text of a field; nil if the field was not sent or is not UTF-8.
    func textIfValid(_ name: UTF8Text) -> UTF8Text? { secret(name)?.utf8Text }

    private static func end(of bytes: Span<UInt8>, _ range: Range<Int>, _ delimiter: UInt8) -> Int {
        var end = range.lowerBound
        while end < range.upperBound, bytes[end] != delimiter { end += 1 }
        return end
    }

    private static func decode(_ bytes: Span<UInt8>, _ range: Range<Int>) throws(BadFields) -> Secret {
        try Secret(capacity: range.count) { output throws(BadFields) in
            var index = range.lowerBound
            while index < range.upperBound {
                var byte = bytes[index]
                if byte == UInt8(ascii: "+") { byte = UInt8(ascii: " ") }
                if byte == UInt8(ascii: "%") {
                    guard let decoded = PercentEncoding.decode(bytes.extracting(first: range.upperBound), at: index)
                    else {
                        throw BadFields(.malformedPercent, at: index)
                    }
                    byte = decoded
                    index += 2
                }
                guard byte != 0 else { throw BadFields(.nul, at: index) }
                output.append(byte)
                index += 1
            }
        }
    }
}

/// The reason why a form, a query or a JSON object is rejected, without text of the request; errors are equal by code.
struct BadFields: Error, Sendable, Hashable, CustomStringConvertible {
    enum Code: String, Sendable, Hashable, CaseIterable {
        case tooLong = "too many bytes"
        case tooMany = "too many fields or elements"
        case repeated = "a duplicate name"
        case malformedPercent = "a percent sign without two hexadecimal digits"
        case notUTF8 = "bytes that are not UTF-8"
        case nul = "a NUL character"
        case syntax = "a syntax error"
        case controlCharacter = "a control character in a string"
        case badEscape = "an unknown escape sequence"
        case loneSurrogate = "a surrogate that is not part of a pair"
        case number = "a number that is not an integer of up to nine digits"
        case missing = "a required field is missing"
        case type = "a value of an unsupported type"
        case nested = "a nested object or array"
    }

    let code: Code
    /// The index of the byte at which the error was found.
    let offset: Int

    init(_ code: Code, at offset: Int) {
        self.code = code
        self.offset = offset
    }

    var description: String { "\(code.rawValue), at byte \(offset)" }

    static func == (left: BadFields, right: BadFields) -> Bool { left.code == right.code }

    func hash(into hasher: inout Hasher) { hasher.combine(code) }
}

extension Secret {
    /// The bytes as text, a copy whose memory is not wiped; nil if they are not UTF-8.
    var utf8Text: UTF8Text? { withBytes { UTF8Text(validating: $0) } }

    /// The secret without ASCII spaces: many applications show a one-time code as `314 159`.
    var withoutSpaces: Secret {
        Secret(capacity: count) { output in
            withBytes { bytes in
                for index in bytes.indices where bytes[index] != UInt8(ascii: " ") { output.append(bytes[index]) }
            }
        }
    }
}
