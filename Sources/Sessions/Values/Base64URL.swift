// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// Base64url without padding (RFC 4648 section 5), one text for each sequence of bytes.
package enum Base64URL {
    /// The text of bytes.
    package static func text(_ bytes: Span<UInt8>) -> String {
        var characters: [UInt8] = []
        characters.reserveCapacity((bytes.count * 8 + 5) / 6)
        var bits: UInt32 = 0
        var count = 0
        for index in bytes.indices {
            bits = bits << 8 | UInt32(bytes[index])
            count += 8
            while count >= 6 {
                count -= 6
                characters.append(character(of: UInt8(truncatingIfNeeded: bits >> UInt32(count)) & 0x3F))
            }
        }
        if count > 0 {
            characters.append(character(of: UInt8(truncatingIfNeeded: bits << UInt32(6 - count)) & 0x3F))
        }
        return String(decoding: characters, as: UTF8.self)
    }

    /// Reads the text of so many bytes, without an allocation.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - length: How many bytes it is to stand for.
    ///   - take: Gets each byte with its place.
    /// - Returns: Whether it is such a text, with the bits that stand for nothing unset.
    package static func read(_ text: Span<UInt8>, length: Int, _ take: (Int, UInt8) -> Void) -> Bool {
        guard text.count == (length * 8 + 5) / 6 else { return false }
        var bits: UInt32 = 0
        var count = 0
        var index = 0
        for position in text.indices {
            guard let value = value(of: text[position]) else { return false }
            bits = bits << 6 | UInt32(value)
            count += 6
            guard count >= 8, index < length else { continue }
            count -= 8
            take(index, UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            index += 1
        }
        return index == length && bits & ((1 << UInt32(count)) - 1) == 0
    }

    private static func value(of character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }

    private static func character(of value: UInt8) -> UInt8 {
        switch value {
        case 0..<26: UInt8(ascii: "A") + value
        case 26..<52: UInt8(ascii: "a") + value - 26
        case 52..<62: UInt8(ascii: "0") + value - 52
        case 62: UInt8(ascii: "-")
        default: UInt8(ascii: "_")
        }
    }
}
