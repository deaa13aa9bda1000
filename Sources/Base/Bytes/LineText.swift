// SPDX-License-Identifier: Apache-2.0

/// Text from outside on one line of a log or a terminal.
package enum LineText {
    /// Returns a text with a blank in place of each control character, so that it can neither begin a line of its own nor
    /// control a terminal.
    ///
    /// - Parameter text: The text.
    /// - Returns: The line.
    package static func line(_ text: String) -> String {
        guard !text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else { return text }
        var line = ""
        for scalar in text.unicodeScalars { line.unicodeScalars.append(isControl(scalar) ? " " : scalar) }
        return line
    }

    /// Returns whether a character ends a line, controls a terminal or changes the direction of text.
    ///
    /// - Parameter scalar: The character.
    /// - Returns: True for C0, DEL, C1, the line and paragraph separators, and the marks and controls of directions.
    package static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x00...0x1F, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
