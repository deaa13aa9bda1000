// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import AccessControl
internal import Bytes
internal import RealmKit

/// The fields of one flat JSON object: strings, arrays of strings, whole numbers up to nine digits, true, false, null.
///
/// Other numbers, nesting and a name that occurs twice are rejected: a form has none of them, and parsers treat them
/// differently. A string is decoded into a ``Secret`` at once. It cannot contain a NUL, which would end it early for a
/// C library.
///
/// Source: RFC 8259.
struct JSONFields: Sendable {
    /// The largest number of bytes.
    static let maximumBytes = 65_536
    /// The largest number of fields, and of elements of an array.
    static let maximumCount = 64

    /// The value of a field.
    package enum Value: Sendable {
        /// A string; UTF-8.
        case string(Secret)
        /// An array of strings; UTF-8.
        case strings([Secret])
        /// True or false.
        case boolean(Bool)
        /// A whole number from 0 to 999,999,999.
        case integer(Int)
        /// Null.
        case null
    }

    private let values: [UTF8Text: Value]

    /// Reads an object.
    ///
    /// - Parameter bytes: The whole body.
    /// - Throws: ``BadFields``.
    init(_ bytes: Span<UInt8>) throws(BadFields) {
        guard bytes.count <= Self.maximumBytes else { throw BadFields(.tooLong, at: Self.maximumBytes) }
        var position = 0
        values = try JSONReading.object(bytes, &position)
    }

    /// The number of fields.
    var count: Int { values.count }

    /// The names of the fields, in no order.
    var names: [UTF8Text] { Array(values.keys) }

    /// Returns the value of a field; nil if it was not sent.
    func value(_ name: UTF8Text) -> Value? { values[name] }

    /// Returns the string of a field; nil if there is none.
    func secret(_ name: UTF8Text) -> Secret? {
        if case .string(let secret)? = values[name] { secret } else { nil }
    }

    /// Returns the string of a field that is not a secret; nil if there is none.
    func text(_ name: UTF8Text) -> UTF8Text? { secret(name)?.utf8Text }

    /// Returns the strings of a field that are not secrets; nil if its value is not an array.
    func texts(_ name: UTF8Text) -> [UTF8Text]? {
        if case .strings(let secrets)? = values[name] { secrets.compactMap(\.utf8Text) } else { nil }
    }

    /// Returns the strings of an array.
    ///
    /// - Parameter name: The name, exactly.
    /// - Returns: The strings; nil if there is no such array.
    func secrets(_ name: UTF8Text) -> [Secret]? {
        if case .strings(let secrets)? = values[name] { secrets } else { nil }
    }

    /// A whole number.
    ///
    /// - Parameter name: The name, exactly.
    /// - Returns: The number; nil if there is none.
    func integer(_ name: UTF8Text) -> Int? {
        if case .integer(let number)? = values[name] { number } else { nil }
    }

    /// Returns the Boolean value of a field; nil if there is none.
    func boolean(_ name: UTF8Text) -> Bool? {
        if case .boolean(let value)? = values[name] { value } else { nil }
    }
}
