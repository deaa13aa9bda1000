// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Bytes
internal import RealmKit

/// Passwords as the attribute `unicodePwd` of Active Directory takes them: in quotes, as UTF-16, the low byte first.
enum QuotedPassword {
    /// Returns the value for a password; nil if the password is not UTF-8.
    static func make(_ password: Secret) -> Secret? {
        password.withBytes { bytes in
            guard Self.isUTF8(bytes) else { return nil }
            // UTF-16 has at most two bytes for one byte of UTF-8.
            return Secret(capacity: 2 * bytes.count + 4) { output in
                func append(_ unit: UInt16) {
                    output.append(UInt8(truncatingIfNeeded: unit))
                    output.append(UInt8(truncatingIfNeeded: unit >> 8))
                }
                append(UInt16(UInt8(ascii: "\"")))
                var index = 0
                while index < bytes.count {
                    let scalar = Self.scalar(bytes, at: &index)
                    if scalar < 0x10000 {
                        append(UInt16(scalar))
                    } else {
                        append(UInt16(0xD7C0 + (scalar >> 10)))
                        append(UInt16(0xDC00 + (scalar & 0x3FF)))
                    }
                }
                append(UInt16(UInt8(ascii: "\"")))
            }
        }
    }

    private static func isUTF8(_ bytes: Span<UInt8>) -> Bool { (try? UTF8Span(validating: bytes)) != nil }

    /// Returns the next character of valid UTF-8.
    private static func scalar(_ bytes: Span<UInt8>, at index: inout Int) -> UInt32 {
        let first = UInt32(bytes[index])
        let length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
        var value = length == 1 ? first : first & (0x7F >> UInt32(length))
        for offset in 1..<max(length, 1) { value = value << 6 | UInt32(bytes[index + offset] & 0x3F) }
        index += length
        return value
    }
}
#endif
