// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Bytes

/// Values in search filters and in distinguished names.
enum LDAPText {
    /// Returns a value for a distinguished name, in the form in which the server reads exactly its bytes.
    ///
    /// A backslash and two hexadecimal digits are a byte (RFC 4514 section 2.4). Every byte is written so, except
    /// letters, digits and some marks, which is more than the standard requires.
    static func nameValue(_ value: some Sequence<UInt8>) -> String { escaped(value) { _ in false } }

    /// Returns a value for a distinguished name with no more escapes than RFC 4514 section 2.4 requires.
    static func readableNameValue(_ value: String) -> String {
        let bytes = Array(value.utf8)
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case _ where "\"+,;<>\\".utf8.contains(byte): text += [UInt8(ascii: "\\"), byte]
            case UInt8(ascii: " ") where index > 0 && index < bytes.count - 1: text.append(byte)
            case UInt8(ascii: "#") where index > 0: text.append(byte)
            case 0...0x20, UInt8(ascii: "#"), 0x7F: append(byte, to: &text)
            default: text.append(byte)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns a value for a filter, in the form in which the server reads exactly its bytes (RFC 4515 section 3).
    ///
    /// The marks of distinguished names are kept, because such names are the most frequent values, and are read in logs.
    static func filterValue(_ value: some Sequence<UInt8>) -> String {
        escaped(value) { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ",") }
    }

    private static func escaped(_ value: some Sequence<UInt8>, keeping isKept: (UInt8) -> Bool) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(value.underestimatedCount)
        for byte in value {
            if isKept(byte) { text.append(byte) } else { append(byte, to: &text) }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func append(_ byte: UInt8, to text: inout [UInt8]) {
        guard !byte.isAlphanumeric, !"._-@".utf8.contains(byte) else { return text.append(byte) }
        text.append(UInt8(ascii: "\\"))
        text.append(Hexadecimal.digit(of: byte >> 4))
        text.append(Hexadecimal.digit(of: byte & 15))
    }

    /// Returns a text from the server for the log: at most 200 characters, without control characters.
    static func printable(_ text: String) -> String {
        guard text.utf8.count > 200 else { return LineText.line(text) }
        return LineText.line(String(String.UnicodeScalarView(text.unicodeScalars.prefix(200))))
    }
}

extension UInt8 {
    /// True for a letter or a digit of ASCII.
    var isAlphanumeric: Bool { ASCII.isDigit(self) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }
}
#endif
