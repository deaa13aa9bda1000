// SPDX-License-Identifier: Apache-2.0

/// Percent-encoding (RFC 3986 section 2.1).
package enum PercentEncoding {
    /// Percent-encodes a text, except for unreserved characters (RFC 3986 section 2.3) and one additional character.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - kept: The additional ASCII character that is not encoded.
    /// - Returns: The encoded text, in ASCII.
    package static func encode(_ text: String, keeping kept: Unicode.Scalar = "/") -> String {
        let kept = UInt8(ascii: kept)
        guard !text.utf8.allSatisfy({ isUnreserved($0) || $0 == kept }) else { return text }
        return encode(text.utf8Span.span) { isUnreserved($0) || $0 == kept }
    }

    /// Percent-encodes bytes, except for the bytes to keep.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - isKept: Returns true for a byte that is not encoded.
    /// - Returns: The encoded text. It is ASCII if the kept bytes are ASCII.
    package static func encode(_ bytes: Span<UInt8>, keeping isKept: (UInt8) -> Bool) -> String {
        var encoded: [UInt8] = []
        encoded.reserveCapacity(bytes.count * 2)
        for index in bytes.indices {
            let byte = bytes[index]
            if isKept(byte) {
                encoded.append(byte)
            } else {
                encoded.append(UInt8(ascii: "%"))
                encoded.append(Hexadecimal.uppercaseDigit(of: byte >> 4))
                encoded.append(Hexadecimal.uppercaseDigit(of: byte & 15))
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Decodes one byte.
    ///
    /// - Parameters:
    ///   - bytes: The encoded text.
    ///   - index: The index of the percent sign.
    /// - Returns: The decoded byte; nil if the percent sign is not followed by two hexadecimal digits.
    package static func decode(_ bytes: Span<UInt8>, at index: Int) -> UInt8? {
        guard index + 2 < bytes.count, let high = Hexadecimal.value(of: bytes[index + 1]),
            let low = Hexadecimal.value(of: bytes[index + 2])
        else { return nil }
        return high << 4 | low
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
