// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// Base64 in the alphabets and paddings of password hashes, read strictly: one text for every row of bytes.
struct Base64: Sendable {
    private let alphabet: [UInt8]
    private let values: [UInt8]
    private let isPadded: Bool

    /// RFC 4648 with padding.
    static let padded = Base64(last: "+/", isPadded: true)
    /// RFC 4648 without padding, as in PHC strings.
    static let bare = Base64(last: "+/", isPadded: false)
    /// passlib's `ab64`: without padding, a dot for the plus sign.
    static let dotted = Base64(last: "./", isPadded: false)

    private static let invalid: UInt8 = 255

    private init(last: String, isPadded: Bool) {
        alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8) + Array(last.utf8)
        var values = [UInt8](repeating: Self.invalid, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        self.values = values
        self.isPadded = isPadded
    }

    /// Reads a text.
    ///
    /// - Parameter text: The text.
    /// - Returns: The bytes; nil if the text is not the one that ``encode(_:)`` makes of them.
    func decode(_ text: some StringProtocol) -> [UInt8]? {
        var digits = Array(text.utf8)
        if isPadded {
            guard digits.count % 4 == 0 else { return nil }
            let equals = digits.reversed().prefix(2).prefix { $0 == UInt8(ascii: "=") }.count
            digits.removeLast(equals)
            guard (4 - digits.count % 4) % 4 == equals else { return nil }
        }
        guard digits.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count * 3 / 4)
        var bits: UInt32 = 0
        var count = 0
        for digit in digits {
            let value = values[Int(digit)]
            guard value != Self.invalid else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        // Bits that are of no byte are zero: otherwise there would be several texts for the same bytes.
        guard bits & (1 << UInt32(count) - 1) == 0 else { return nil }
        return bytes
    }

    /// Writes bytes.
    ///
    /// - Parameter bytes: The bytes.
    /// - Returns: The text.
    func encode(_ bytes: [UInt8]) -> String {
        let count = isPadded ? (bytes.count + 2) / 3 * 4 : (bytes.count * 4 + 2) / 3
        var text = [UInt8](repeating: 0, count: count)
        var span = text.mutableSpan
        encode(bytes.span, into: &span)
        return String(decoding: text, as: UTF8.self)
    }

    /// Writes bytes to where the caller wants them, so that it can wipe them.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - text: Is overwritten; as many characters as there will be.
    func encode(_ bytes: Span<UInt8>, into text: inout MutableSpan<UInt8>) {
        var (bits, count, place): (UInt32, UInt32, Int) = (0, 0, 0)
        for index in bytes.indices {
            bits = bits << 8 | UInt32(bytes[index])
            count += 8
            while count >= 6 {
                count -= 6
                text[place] = alphabet[Int(bits >> count & 63)]
                place += 1
            }
        }
        if count > 0 {
            text[place] = alphabet[Int(bits << (6 - count) & 63)]
            place += 1
        }
        while place < text.count {
            text[place] = UInt8(ascii: "=")
            place += 1
        }
    }
}

/// Hexadecimal digits, two a byte.
enum Hexadecimal {
    /// Reads lower-case digits.
    ///
    /// - Parameter text: The text.
    /// - Returns: The bytes; nil for anything else, capitals too.
    static func decode(_ text: some StringProtocol) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = value(digits[index]), let low = value(digits[index + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// Writes bytes as lower-case digits to where the caller wants them.
    static func encode(_ bytes: Span<UInt8>, into text: inout MutableSpan<UInt8>) {
        for index in bytes.indices {
            text[2 * index] = digits[Int(bytes[index] >> 4)]
            text[2 * index + 1] = digits[Int(bytes[index] & 15)]
        }
    }

    private static let digits = Array("0123456789abcdef".utf8)

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case _: nil
        }
    }
}
