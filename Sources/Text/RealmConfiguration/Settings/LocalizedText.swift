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
