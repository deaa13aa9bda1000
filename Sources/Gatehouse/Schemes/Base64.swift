// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// Base64 as RFC 4648 section 4 has it, and nothing else: a text that another decoder might read differently is refused.
enum Base64 {
    /// How many bytes a text of this length stands for at most.
    static func capacity(_ length: Int) -> Int { length / 4 * 3 }

    /// Appends the bytes a text stands for.
    ///
    /// - Returns: False if a character is not of the alphabet, the padding is not exactly what the length asks for, or bits
    ///   that stand for nothing are set; what has been appended is of no use then.
    static func decode(_ text: Span<UInt8>, into bytes: inout OutputSpan<UInt8>) -> Bool {
        guard text.count % 4 == 0, capacity(text.count) <= bytes.freeCapacity else { return false }
        var padding = 0
        for start in stride(from: 0, to: text.count, by: 4) {
            guard padding == 0 else { return false }
            var group: UInt32 = 0
            for index in start..<(start + 4) {
                let value = value(of: text[index])
                if let value {
                    guard padding == 0 else { return false }
                    group = group << 6 | UInt32(value)
                } else {
                    guard text[index] == UInt8(ascii: "=") else { return false }
                    padding += 1
                    group <<= 6
                }
            }
            guard padding <= 2, padding == 0 || group & (padding == 1 ? 0xFF : 0xFFFF) == 0 else { return false }
            bytes.append(UInt8(truncatingIfNeeded: group >> 16))
            if padding < 2 { bytes.append(UInt8(truncatingIfNeeded: group >> 8)) }
            if padding < 1 { bytes.append(UInt8(truncatingIfNeeded: group)) }
        }
        return true
    }

    private static func value(of character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
