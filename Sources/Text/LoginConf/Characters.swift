// SPDX-License-Identifier: Apache-2.0

extension UInt8 {
    static let tab = UInt8(ascii: "\t")
    static let lineFeed = UInt8(ascii: "\n")
    static let carriageReturn = UInt8(ascii: "\r")
    static let space = UInt8(ascii: " ")
    static let quote = UInt8(ascii: "\"")
    static let apostrophe = UInt8(ascii: "'")
    static let hash = UInt8(ascii: "#")
    static let dollar = UInt8(ascii: "$")
    static let asterisk = UInt8(ascii: "*")
    static let comma = UInt8(ascii: ",")
    static let slash = UInt8(ascii: "/")
    static let semicolon = UInt8(ascii: ";")
    static let equals = UInt8(ascii: "=")
    static let backslash = UInt8(ascii: "\\")
    static let openBrace = UInt8(ascii: "{")
    static let closeBrace = UInt8(ascii: "}")
    static let dot = UInt8(ascii: ".")
    static let hyphen = UInt8(ascii: "-")

    /// True for a continuation byte of UTF-8: any byte of a multi-byte character but the first.
    var isContinuation: Bool { self & 0xC0 == 0x80 }
    var isLineEnd: Bool { self == .lineFeed || self == .carriageReturn }
    var isSpaceOrTab: Bool { self == .space || self == .tab }
    /// True for white space of login.conf: the space and all control characters before it.
    var isLoginConfWhitespace: Bool { self <= .space }
    /// True for a character that ends a statement, or begins or ends a block.
    var isDelimiter: Bool { self == .semicolon || self == .openBrace || self == .closeBrace }
    var isDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }

    /// True for a letter of ASCII.
    var isLetter: Bool {
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= self || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self
    }

    var isLetterOrDigit: Bool { isLetter || isDigit }

    /// True for a byte of the names of statements and options.
    var isNamePart: Bool {
        isLetterOrDigit || self == .hyphen || self == .dot || self == UInt8(ascii: "_")
    }

    var lowercased: UInt8 { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self ? self | 0x20 : self }
}

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
