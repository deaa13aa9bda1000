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
    /// The maximum number of bytes.
    static let maximumBytes = 65_536
    /// The maximum number of fields, and of elements of an array.
    static let maximumCount = 64

    /// The value of a field.
    package enum Value: Sendable {
        /// A string, in UTF-8.
        case string(Secret)
        /// An array of strings, in UTF-8.
        case strings([Secret])
        /// True or false.
        case boolean(Bool)
        /// An integer from 0 to 999,999,999.
        case integer(Int)
        /// Null.
        case null
    }

    private let values: [UTF8Text: Value]

    /// Parses an object.
    ///
    /// - Parameter bytes: The whole body.
    /// - Throws: ``BadFields``.
    init(_ bytes: Span<UInt8>) throws(BadFields) {
        guard bytes.count <= Self.maximumBytes else { throw BadFields(.tooLong, at: Self.maximumBytes) }
        var position = 0
        values = try JSONFieldsParser.object(bytes, &position)
    }

    /// The number of fields.
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

    /// Returns the strings of an array field.
    ///
    /// - Parameter name: The name of the field.
    /// - Returns: The strings; nil if the field does not exist or is not an array.
    func secrets(_ name: UTF8Text) -> [Secret]? {
        if case .strings(let secrets)? = values[name] { secrets } else { nil }
    }

    /// Returns the integer of a field.
    ///
    /// - Parameter name: The name of the field.
    /// - Returns: The integer; nil if the field does not exist or is not an integer.
    func integer(_ name: UTF8Text) -> Int? {
        if case .integer(let number)? = values[name] { number } else { nil }
    }

    /// Returns the Boolean value of a field; nil if the field does not exist or is not a Boolean.
    func boolean(_ name: UTF8Text) -> Bool? {
        if case .boolean(let value)? = values[name] { value } else { nil }
    }
}
