// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// Text without the characters that control a terminal.
package enum Printable {
    /// Returns text on one line, so that a name or message from a directory or a module cannot look like further lines
    /// of output.
    package static func line(_ text: String) -> String {
        Self.text(String(text.unicodeScalars.map { $0 == "\n" || $0 == "\t" ? "\u{FFFD}" : Character($0) }))
    }

    /// Returns text of one or more lines.
    ///
    /// Tabs are kept: a line that is quoted from a file may have them, and its underline must start at the same column.
    package static func text(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { result.append(isControl(scalar) ? "\u{FFFD}" : scalar) }
        return String(result)
    }

    /// Returns whether a character controls a terminal or the direction of text; a tab and the end of a line do not.
    static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x00...0x08, 0x0B...0x1F, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
