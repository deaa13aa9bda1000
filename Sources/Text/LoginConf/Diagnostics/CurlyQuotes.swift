// SPDX-License-Identifier: Apache-2.0

/// The quotation marks that word processors write instead of `"`.
enum CurlyQuotes {
    /// Marks at the beginning of a quoted text, in English, German, French, Japanese and other languages.
    static let opening: Set<Unicode.Scalar> = [
        "\u{201C}", "\u{201D}", "\u{201E}", "\u{00AB}", "\u{00BB}", "\u{2018}", "\u{2019}", "\u{201A}", "\u{2039}",
        "\u{203A}", "\u{FF02}", "\u{300C}",
    ]
    /// Marks at the end of a quoted text.
    static let closing = opening.union(["\u{300D}"])
}
