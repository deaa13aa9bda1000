// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit

/// The fields of a form or a query, as `application/x-www-form-urlencoded` has them.
///
/// Every value is decoded into a ``Secret`` at once: which field is a password only its reader knows. Anything that two
/// readers might read differently is refused: a name that occurs twice, a percent sign that encodes nothing, a NUL.
///
/// Source: the URL Standard, section 5.1.
struct FormFields: Sendable {
    /// The most bytes.
    static let maximumBytes = 65_536
    /// The most fields.
    static let maximumCount = 64

    private var values: [String: Secret] = [:]

    /// Reads fields.
    ///
    /// - Parameter bytes: The body of a form, or a query without its `?`.
    /// - Throws: ``BadFields``.
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

    /// How many fields there are.
    var count: Int { values.count }

    /// The names, in no order.
    var names: [String] { Array(values.keys) }

    /// The value of a field, whatever its bytes; nil if it was not sent.
    func secret(_ name: String) -> Secret? { values[name] }

    /// The value of a field that is no secret; nil if it was not sent.
    ///
    /// - Parameter name: The field's name.
    /// - Returns: The text.
    /// - Throws: ``BadFields`` of code `notUTF8`.
    func text(_ name: String) throws(BadFields) -> String? {
        guard let value = values[name] else { return nil }
        guard let text = value.utf8Text else { throw BadFields(.notUTF8, at: 0) }
        return text
    }

    private static func end(of bytes: Span<UInt8>, _ place: Range<Int>, _ delimiter: UInt8) -> Int {
        var end = place.lowerBound
        while end < place.upperBound, bytes[end] != delimiter { end += 1 }
        return end
    }

    private static func decode(_ bytes: Span<UInt8>, _ place: Range<Int>) throws(BadFields) -> Secret {
        try Secret(capacity: place.count) { output throws(BadFields) in
            var index = place.lowerBound
            while index < place.upperBound {
                var byte = bytes[index]
                if byte == UInt8(ascii: "+") { byte = UInt8(ascii: " ") }
                if byte == UInt8(ascii: "%") {
                    guard index + 2 < place.upperBound, let high = Hex.value(of: bytes[index + 1]),
                        let low = Hex.value(of: bytes[index + 2])
                    else { throw BadFields(.malformedPercent, at: index) }
                    byte = high << 4 | low
                    index += 2
                }
                guard byte != 0 else { throw BadFields(.nul, at: index) }
                output.append(byte)
                index += 1
            }
        }
    }
}

/// Hexadecimal digits.
enum Hex {
    /// What a digit stands for, in upper or lower case; nil for what is none.
    static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
