// SPDX-License-Identifier: Apache-2.0

/// The ASCII characters with a special meaning in HTTP/1.1 (RFC 9112 section 2.2, RFC 9110 section 5.6).
@usableFromInline package enum ASCII {
    @inlinable package static var tab: UInt8 { UInt8(ascii: "\t") }
    @inlinable package static var lineFeed: UInt8 { UInt8(ascii: "\n") }
    @inlinable package static var carriageReturn: UInt8 { UInt8(ascii: "\r") }
    @inlinable package static var space: UInt8 { UInt8(ascii: " ") }
    @inlinable package static var colon: UInt8 { UInt8(ascii: ":") }
    @inlinable package static var comma: UInt8 { UInt8(ascii: ",") }
    @inlinable package static var semicolon: UInt8 { UInt8(ascii: ";") }

    /// Returns whether a byte is a `tchar` (RFC 9110 section 5.6.2).
    @inlinable @inline(__always)
    package static func isToken(_ byte: UInt8) -> Bool {
        // One bit for each of the 128 characters of ASCII.
        let bits: UInt64 = byte < 64 ? 0x03FF_6CFA_0000_0000 : 0x57FF_FFFF_C7FF_FFFE
        return byte < 128 && bits &>> UInt64(byte & 63) & 1 == 1
    }

    /// Returns whether a byte is allowed in a field value: visible characters, blanks, and bytes above ASCII (RFC 9110
    /// section 5.5).
    @inlinable @inline(__always)
    package static func isFieldContent(_ byte: UInt8) -> Bool { byte >= 0x20 && byte != 0x7F || byte == tab }

    /// Returns whether a byte is visible ASCII, as allowed in a request target (RFC 9112 section 3.2, RFC 3986).
    @inlinable @inline(__always)
    package static func isVisible(_ byte: UInt8) -> Bool { byte > 0x20 && byte < 0x7F }

    /// Returns whether a byte is optional white space (RFC 9110 section 5.6.3).
    @inlinable @inline(__always)
    package static func isBlank(_ byte: UInt8) -> Bool { byte == space || byte == tab }

    @inlinable @inline(__always)
    package static func lowercased(_ byte: UInt8) -> UInt8 {
        byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
    }

    @inlinable @inline(__always)
    package static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

    @inlinable @inline(__always)
    package static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        isDigit(byte) || lowercased(byte) >= UInt8(ascii: "a") && lowercased(byte) <= UInt8(ascii: "z")
    }

    /// Appends the decimal digits of a number, after a minus sign if it is negative, with zeros up to a minimum width.
    package static func append(decimal number: Int, width: Int = 1, to bytes: inout [UInt8]) {
        if number < 0 { bytes.append(UInt8(ascii: "-")) }
        let begin = bytes.count
        var rest = number.magnitude
        while rest > 0 || bytes.count - begin < width {
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        }
        bytes[begin...].reverse()
    }
}

extension Span<UInt8> {
    /// Returns whether the bytes equal an ASCII text in lower case, ignoring case.
    @inlinable @inline(__always)
    package func equalsIgnoringCase(_ text: StaticString) -> Bool {
        count == text.utf8CodeUnitCount && beginsIgnoringCase(with: text)
    }

    /// Returns whether the bytes begin with an ASCII text in lower case, ignoring case.
    @inlinable @inline(__always)
    package func beginsIgnoringCase(with text: StaticString) -> Bool {
        guard count >= text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { wanted in
            for index in 0..<wanted.count where ASCII.lowercased(self[index]) != (unsafe wanted[index]) { return false }
            return true
        }
    }

    /// Returns whether the bytes equal other bytes, ignoring the case of ASCII letters.
    @inlinable
    package func equalsIgnoringCase(_ other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        for index in indices where ASCII.lowercased(self[index]) != ASCII.lowercased(other[index]) { return false }
        return true
    }

    /// Returns whether the bytes equal an ASCII text.
    @inlinable @inline(__always)
    package func equals(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { wanted in
            for index in 0..<count where self[index] != (unsafe wanted[index]) { return false }
            return true
        }
    }

    /// Returns a range without the blanks at its ends.
    @inlinable
    package func trimmed(_ range: Range<Int>) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end, ASCII.isBlank(self[start]) { start += 1 }
        while end > start, ASCII.isBlank(self[end - 1]) { end -= 1 }
        return start..<end
    }
}
