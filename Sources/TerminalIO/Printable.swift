// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// Text that cannot do anything to a terminal.
package enum Printable {
    /// Text that is one line: what a directory or a module says must not look like lines of ours.
    package static func line(_ text: String) -> String {
        Self.text(String(text.unicodeScalars.map { $0 == "\n" ? "\u{FFFD}" : Character($0) }))
    }

    package static func text(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x00...0x09, 0x0B...0x1F, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069:
                result.append("\u{FFFD}")
            default:
                result.append(scalar)
            }
        }
        return String(result)
    }
}
