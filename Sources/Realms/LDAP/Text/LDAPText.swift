// SPDX-License-Identifier: Apache-2.0
// Gatehouse

#if LDAP
internal import Bytes

/// Values in search filters and in distinguished names.
enum LDAPText {
    /// Returns a value in the form in which the server reads exactly its bytes.
    ///
    /// A backslash and two hexadecimal digits are a byte in filters (RFC 4515 section 3) and in names (RFC 4514 section
    /// 2.4). Every byte is written so, except letters, digits and some marks. This is more than the standards require.
    ///
    /// - Parameter value: Any bytes.
    /// - Returns: The escaped value.
    static func escaped(_ value: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(value.underestimatedCount)
        for byte in value { append(byte, to: &text) }
        return String(decoding: text, as: UTF8.self)
    }

    private static func append(_ byte: UInt8, to text: inout [UInt8]) {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"),
            UInt8(ascii: "@"):
            text.append(byte)
        default:
            text.append(UInt8(ascii: "\\"))
            text.append(Hexadecimal.digit(of: byte >> 4))
            text.append(Hexadecimal.digit(of: byte & 15))
        }
    }

    /// Returns a text from the server for the log: at most 200 characters, without control characters.
    static func printable(_ text: String) -> String {
        // Almost all texts are short and plain, and every login has some.
        if text.utf8.count <= 200, text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return text }
        let scalars = text.unicodeScalars.prefix(200).map { scalar -> Unicode.Scalar in
            scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) ? " " : scalar
        }
        var line = ""
        line.unicodeScalars.append(contentsOf: scalars)
        return line
    }
}
#endif
