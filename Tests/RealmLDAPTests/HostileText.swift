// SPDX-License-Identifier: Apache-2.0

#if LDAP
import Foundation
import SeededRandom

/// Texts of characters that have a meaning in filters, in distinguished names, in logs or in templates.
enum HostileText {
    private static let pieces = [
        "*", "(", ")", "\\", "&", "|", "!", "=", "<", ">", "~", ",", "+", "\"", "#", ";", "/", "'", ":", " ", "\u{0}",
        "\u{1}", "\t", "\n", "\r", "\u{1B}", "\u{7F}", "\u{85}", "\u{2028}", "é", "漢", "😀", "e\u{301}", "\u{301}",
        "\u{200D}", "\u{202E}", "\u{FEFF}", "\u{FF0A}", "%s", "%n", "%d", "%%", "%", "\\2a", "\\00", "\\5c", "\\",
        ")(", "*)(uid=*", ")(|(uid=*", "a", "b", "Z", "7", "zoe", "uid=", "dc=", "1.2.3", "#04", ":dn:=",
    ]

    /// Returns a text of 1 to 12 such pieces.
    static func next(_ random: inout Random) -> String {
        var text = ""
        for _ in 0...random.below(12) { text.unicodeScalars.append(contentsOf: random.pick(pieces).unicodeScalars) }
        return text
    }

    /// Returns a text of printable characters of ASCII, as a direct bind takes them.
    static func nextPrintable(_ random: inout Random) -> String {
        while true {
            let text = String(decoding: next(&random).utf8.filter { (0x21...0x7E).contains($0) }, as: UTF8.self)
            if !text.isEmpty { return text }
        }
    }

    /// The number of texts for a test: a million or another number of `GATEHOUSE_INJECTIONS`, or a standard one.
    static func count(_ standard: Int) -> Int {
        ProcessInfo.processInfo.environment["GATEHOUSE_INJECTIONS"].flatMap(Int.init) ?? standard
    }
}

/// Readers for what a server has received, written for these tests only.
enum Decoded {
    /// Returns the bytes of a value in a filter (RFC 4515 section 3); nil if it is not one value.
    static func filterValue(_ text: Substring.UTF8View) -> [UInt8]? { bytes(text, ending: "()*\0") }

    /// Returns the bytes of a value in a distinguished name (RFC 4514 section 3); nil if it is not one value.
    static func nameValue(_ text: Substring.UTF8View) -> [UInt8]? { bytes(text, ending: ",+\"<>;\0") }

    private static func bytes(_ text: Substring.UTF8View, ending marks: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                guard !marks.utf8.contains(byte) else { return nil }
                bytes.append(byte)
                continue
            }
            guard let first = rest.popFirst() else { return nil }
            if let high = digit(first), let second = rest.first, let low = digit(second) {
                bytes.append(high << 4 | low)
                rest = rest.dropFirst()
            } else if "\\,+\"<>;=# ".utf8.contains(first), marks.utf8.contains(UInt8(ascii: ",")) {
                bytes.append(first)
            } else {
                return nil
            }
        }
        return bytes
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        UInt8(String(UnicodeScalar(byte)), radix: 16)
    }
}
#endif
