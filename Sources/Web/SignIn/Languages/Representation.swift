// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
package import HTTPTypes
package import RealmConfiguration

/// The form of a page that suits a client: HTML or text, and the language (RFC 9110 section 12).
package struct Representation: Sendable, Hashable {
    /// True for HTML, false for text.
    package let isHTML: Bool
    /// The index of the translation in the translations of the configuration.
    package let language: Int

    /// A representation.
    ///
    /// - Parameters:
    ///   - isHTML: True for HTML, false for text.
    ///   - language: The index of the translation in the translations of the configuration.
    package init(isHTML: Bool, language: Int = 0) {
        self.isHTML = isHTML
        self.language = language
    }

    /// The representation that a client prefers.
    ///
    /// - Parameters:
    ///   - fields: The header fields of the request.
    ///   - translations: The translations.
    package init(for fields: HTTPFields, in translations: Translations) {
        isHTML = AcceptField.prefersHTML(fields)
        language = AcceptLanguageField.index(for: fields, in: translations)
    }
}
