// SPDX-License-Identifier: Apache-2.0

/// Hexadecimal text, with two digits for each byte.
@usableFromInline package enum Hexadecimal {
    /// Returns the value of a digit in upper or lower case; nil for any other byte.
    @inlinable @inline(__always)
    package static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case _: nil
        }
    }

    /// Returns the digit, in lower case, of a value from 0 to 15.
    package static func digit(of value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    /// Returns the digit, in upper case, of a value from 0 to 15.
    package static func uppercaseDigit(of value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }

    /// Returns the bytes of a text of digits in upper or lower case; nil if it has another character or an odd number
    /// of digits.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? { decode(text, digit: value) }

    /// Returns the bytes of a text of lower-case digits; nil if it has another character or an odd number of digits.
    package static func decodeLowercase(_ text: some StringProtocol) -> [UInt8]? {
        decode(text, digit: lowercaseValue)
    }

    private static func decode(_ text: some StringProtocol, digit: (UInt8) -> UInt8?) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digit(digits[index]), let low = digit(digits[index + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// Returns the digits of bytes, in lower case.
    package static func encode(_ bytes: Span<UInt8>) -> String {
        unsafe String(unsafeUninitializedCapacity: 2 * bytes.count) { buffer in
            unsafe buffer.initialize(repeating: 0)
            var text = unsafe buffer.mutableSpan
            encode(bytes, into: &text)
            return text.count
        }
    }

    /// Writes the digits of bytes, in lower case, into memory of the caller, which can wipe it, of twice their number.
    package static func encode(_ bytes: Span<UInt8>, into text: inout MutableSpan<UInt8>) {
        for index in bytes.indices {
            text[2 * index] = digit(of: bytes[index] >> 4)
            text[2 * index + 1] = digit(of: bytes[index] & 15)
        }
    }

    private static func lowercaseValue(of digit: UInt8) -> UInt8? {
        (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(digit) ? nil : value(of: digit)
    }
}

/// Percent-encoding (RFC 3986 section 2.1).
package enum PercentEncoding {
    /// Percent-encodes a text, except for unreserved characters (RFC 3986 section 2.3) and one more character of ASCII.
    package static func encode(_ text: String, keeping kept: Unicode.Scalar = "/") -> String {
        let kept = UInt8(ascii: kept)
        guard !text.utf8.allSatisfy({ isUnreserved($0) || $0 == kept }) else { return text }
        return encode(text.utf8Span.span) { isUnreserved($0) || $0 == kept }
    }

    /// Percent-encodes bytes, except for the bytes to keep; the text is ASCII if these are.
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

    /// Decodes the byte whose percent sign is at an index; nil if no two hexadecimal digits follow.
    package static func decode(_ bytes: Span<UInt8>, at index: Int) -> UInt8? {
        guard index + 2 < bytes.count, let high = Hexadecimal.value(of: bytes[index + 1]),
            let low = Hexadecimal.value(of: bytes[index + 2])
        else { return nil }
        return high << 4 | low
    }

    /// Decodes a text; nil if a percent sign is not followed by two hexadecimal digits.
    package static func decode(_ text: Span<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var index = 0
        while index < text.count {
            if text[index] == UInt8(ascii: "%") {
                guard let byte = decode(text, at: index) else { return nil }
                bytes.append(byte)
                index += 3
            } else {
                bytes.append(text[index])
                index += 1
            }
        }
        return bytes
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        ASCII.isLetterOrDigit(byte) || "-._~".utf8.contains(byte)
    }
}
