// SPDX-License-Identifier: Apache-2.0

/// A text of the configuration, which may have translations.
public struct LocalizedText: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The text for all languages without a translation.
    public var standard: String
    /// The translations by the tag of their language in lower case, such as `de` (RFC 5646).
    public var translations: [String: String]

    /// Creates a text.
    ///
    /// - Parameters:
    ///   - standard: The text for all languages without a translation.
    ///   - translations: The translations by the tag of their language in lower case.
    public init(_ standard: String, translations: [String: String] = [:]) {
        self.standard = standard
        self.translations = translations
    }

    /// Creates a text without translations.
    public init(stringLiteral text: String) { self.init(text) }

    /// Returns the text for a page in a language.
    ///
    /// A page in `pt-br` gets the translation of `pt-br`, otherwise that of `pt` (RFC 4647 section 3.4).
    ///
    /// - Parameter language: The tag of the language in lower case.
    /// - Returns: The text.
    public func text(in language: String) -> String {
        var tag = Substring(language)
        while !tag.isEmpty {
            if let text = translations[String(tag)] { return text }
            tag = tag.utf8.lastIndex(of: UInt8(ascii: "-")).map { tag[..<$0] } ?? ""
        }
        return standard
    }
}

/// Texts of the administrator that pages show.
package enum ShownText {
    /// Returns the fault of a text that is empty, longer than `maximum` Unicode scalars, or has invisible characters, as the
    /// end of a sentence that begins with the name of the text; nil if there is none.
    package static func fault(of text: String, maximum: Int) -> String? {
        guard (1...maximum).contains(text.unicodeScalars.count), text.unicodeScalars.contains(where: \.isInk) else {
            return "is a text of 1 to \(maximum) characters"
        }
        guard !text.unicodeScalars.contains(where: \.isInvisible) else {
            return "has a control character or a mark for the direction of text"
        }
        return nil
    }
}

extension Unicode.Scalar {
    /// True for a character that is neither a blank nor invisible.
    ///
    /// U+2800, the Braille pattern without dots, and fillers such as U+3164 are blank too.
    fileprivate var isInk: Bool {
        !properties.isWhitespace && !properties.isDefaultIgnorableCodePoint && value != 0x2800
    }

    /// True for control characters, separators of lines, and invisible characters that change the order of text.
    ///
    /// The joiners U+200C and U+200D are allowed, because words of some languages need them.
    fileprivate var isInvisible: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        case .format: value != 0x200C && value != 0x200D
        default: false
        }
    }
}
