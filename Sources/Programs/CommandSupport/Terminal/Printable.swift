// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// Text without characters that control a terminal.
package enum Printable {
    /// Returns the text on one line, with U+FFFD in place of each control character, tab and line feed.
    ///
    /// A name or a message of a module could otherwise look like several lines of output.
    package static func line(_ text: String) -> String {
        Self.text(String(text.unicodeScalars.map { $0 == "\n" || $0 == "\t" ? "\u{FFFD}" : Character($0) }))
    }

    /// Returns the text with U+FFFD in place of each control character.
    ///
    /// Tabs and line feeds are kept. A line quoted from a file may contain tabs, and the underline below it must start at
    /// the same column.
    package static func text(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { result.append(isControl(scalar) ? "\u{FFFD}" : scalar) }
        return String(result)
    }

    /// Returns whether a character controls the terminal or the direction of text.
    ///
    /// A tab and a line feed are not control characters here.
    static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar != "\t" && scalar != "\n" && LineText.isControl(scalar)
    }
}
