// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit

/// The fields of one flat JSON object: strings, arrays of strings, whole numbers of up to nine digits, true, false, null.
///
/// Other numbers, nesting and a name that occurs twice are refused; a form has none of them, and readers differ about them. A
/// string is decoded into a ``Secret`` at once, and cannot hold a NUL, which would end it early for a C library.
///
/// Source: RFC 8259.
struct JSONFields: Sendable {
    /// The most bytes.
    static let maximumBytes = 65_536
    /// The most fields, and the most elements of an array.
    static let maximumCount = 64

    /// What a field holds.
    enum Value: Sendable {
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

    private let values: [String: Value]

    /// Reads an object.
    ///
    /// - Parameter bytes: The whole body.
    /// - Throws: ``BadFields``.
    init(_ bytes: Span<UInt8>) throws(BadFields) {
        guard bytes.count <= Self.maximumBytes else { throw BadFields(.tooLong, at: Self.maximumBytes) }
        var position = 0
        values = try JSONReading.object(bytes, &position)
    }

    /// How many fields there are.
    var count: Int { values.count }

    /// The names, in no order.
    var names: [String] { Array(values.keys) }

    /// What a field holds; nil if it was not sent.
    func value(_ name: String) -> Value? { values[name] }

    /// The string of a field; nil if there is none.
    func secret(_ name: String) -> Secret? {
        if case .string(let secret)? = values[name] { secret } else { nil }
    }

    /// The string of a field that is no secret; nil if there is none.
    func text(_ name: String) -> String? { secret(name)?.utf8Text }

    /// The strings of a field that are no secrets; nil if it holds no array.
    func texts(_ name: String) -> [String]? {
        if case .strings(let secrets)? = values[name] { secrets.compactMap(\.utf8Text) } else { nil }
    }

    /// The strings of an array.
    ///
    /// - Parameter name: The name, exactly.
    /// - Returns: The strings; nil if there is no such array.
    func secrets(_ name: String) -> [Secret]? {
        if case .strings(let secrets)? = values[name] { secrets } else { nil }
    }

    /// A whole number.
    ///
    /// - Parameter name: The name, exactly.
    /// - Returns: The number; nil if there is none.
    func integer(_ name: String) -> Int? {
        if case .integer(let number)? = values[name] { number } else { nil }
    }

    /// The truth of a field; nil if it holds none.
    func boolean(_ name: String) -> Bool? {
        if case .boolean(let value)? = values[name] { value } else { nil }
    }
}
