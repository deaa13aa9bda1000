// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// Bytes with a meaning in HTTP/1.1 (RFC 9112 section 2.2, RFC 9110 section 5.6).
package enum Octet {
    package static let tab = UInt8(ascii: "\t")
    package static let lineFeed = UInt8(ascii: "\n")
    package static let carriageReturn = UInt8(ascii: "\r")
    package static let space = UInt8(ascii: " ")
    package static let colon = UInt8(ascii: ":")
    package static let comma = UInt8(ascii: ",")
    package static let semicolon = UInt8(ascii: ";")

    /// `tchar` of RFC 9110 section 5.6.2.
    @inline(__always)
    package static func isToken(_ byte: UInt8) -> Bool {
        // One bit for each of the 128 characters of ASCII.
        let bits: UInt64 = byte < 64 ? 0x03FF_6CFA_0000_0000 : 0x57FF_FFFF_C7FF_FFFE
        return byte < 128 && bits &>> UInt64(byte & 63) & 1 == 1
    }

    /// What a field value may hold: visible characters, blanks, and bytes above ASCII (RFC 9110 section 5.5).
    @inline(__always)
    package static func isFieldContent(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != 0x7F || byte == tab
    }

    /// What a request target is made of: visible characters of ASCII (RFC 9112 section 3.2, RFC 3986).
    @inline(__always)
    package static func isVisible(_ byte: UInt8) -> Bool { byte > 0x20 && byte < 0x7F }

    /// Optional white space, RFC 9110 section 5.6.3.
    @inline(__always)
    package static func isBlank(_ byte: UInt8) -> Bool { byte == space || byte == tab }

    @inline(__always)
    package static func lowercased(_ byte: UInt8) -> UInt8 {
        byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
    }

    @inline(__always)
    package static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
}

extension Span<UInt8> {
    /// Whether the bytes are those of a text of ASCII in lower case, upper and lower case being the same.
    @inline(__always)
    package func equalsIgnoringCase(_ text: StaticString) -> Bool {
        count == text.utf8CodeUnitCount && beginsIgnoringCase(with: text)
    }

    /// Whether the first bytes are those of a text of ASCII in lower case, upper and lower case being the same.
    @inline(__always)
    package func beginsIgnoringCase(with text: StaticString) -> Bool {
        guard count >= text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { wanted in
            for index in 0..<wanted.count where Octet.lowercased(self[index]) != (unsafe wanted[index]) { return false }
            return true
        }
    }

    /// Whether the bytes are exactly those of a text of ASCII.
    @inline(__always)
    func equals(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { wanted in
            for index in 0..<count where self[index] != (unsafe wanted[index]) { return false }
            return true
        }
    }

    /// The place without the blanks at its ends.
    package func trimmed(_ place: Range<Int>) -> Range<Int> {
        var (start, end) = (place.lowerBound, place.upperBound)
        while start < end, Octet.isBlank(self[start]) { start += 1 }
        while end > start, Octet.isBlank(self[end - 1]) { end -= 1 }
        return start..<end
    }
}
