// SPDX-License-Identifier: Apache-2.0

/// Text of a configuration, made safe for a terminal or a log.
enum DiagnosticText {
    /// Returns a line of a file with its invisible characters replaced; tabs are kept.
    static func line(_ bytes: ArraySlice<UInt8>) -> String {
        var shown = String.UnicodeScalarView()
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            shown.append(scalar == "\t" ? scalar : replacement(of: scalar))
        }
        return String(shown)
    }

    /// Returns a message or a name with its invisible characters replaced, and cut to ``maximumLength``.
    static func text(_ text: String) -> String {
        var shown = String.UnicodeScalarView()
        for (place, scalar) in text.unicodeScalars.enumerated() {
            guard place < maximumLength else {
                shown.append(contentsOf: "...".unicodeScalars)
                break
            }
            shown.append(replacement(of: scalar))
        }
        return String(shown)
    }

    /// The maximum number of Unicode scalars of a message, a hint or a name.
    private static let maximumLength = 1000

    /// Returns a word of the file for a message, in back quotes and cut to 60 characters.
    static func word(_ text: String) -> String {
        let limit = 60
        let isLong = text.unicodeScalars.count > limit
        return "`" + Self.text(String(text.unicodeScalars.prefix(limit))) + (isLong ? "..." : "") + "`"
    }

    private static func replacement(of scalar: Unicode.Scalar) -> Unicode.Scalar {
        switch scalar.value {
        case 0x20...0x7E: return scalar
        // The symbols for control characters (U+2400 to U+241F) have the same order as the control characters.
        case 0..<0x20: return Unicode.Scalar(0x2400 + scalar.value) ?? "?"
        case 0x7F: return "\u{2421}"
        default: break
        }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: return "?"
        default: return scalar
        }
    }
}
