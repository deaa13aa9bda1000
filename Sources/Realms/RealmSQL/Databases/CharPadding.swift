// SPDX-License-Identifier: Apache-2.0

/// The blanks with which PostgreSQL fills the values of CHAR columns.
enum CharPadding {
    /// Returns a text without blanks at its end.
    static func removed(from text: String) -> String {
        guard text.utf8.last == 0x20 else { return text }
        let bytes = text.utf8
        let end = bytes.lastIndex { $0 != 0x20 }.map { bytes.index(after: $0) } ?? bytes.startIndex
        return String(text[..<end])
    }
}
