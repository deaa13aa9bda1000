// SPDX-License-Identifier: Apache-2.0

package import RealmConfiguration

/// A text on a page: a text in the language of the user, or a text that is the same in all languages.
package struct Message: Sendable, Hashable {
    private enum Content: Hashable {
        case key(MessageKey, [String: Message])
        case verbatim(String)
        case localized(LocalizedText)
    }

    private let content: Content

    private init(_ content: Content) { self.content = content }

    /// The text of a key, with the values of its placeholders.
    ///
    /// - Parameters:
    ///   - key: The key.
    ///   - values: The values by the name of their placeholder.
    package init(_ key: MessageKey, _ values: [String: Message] = [:]) { content = .key(key, values) }

    /// A text that is the same in all languages, such as the name of a user.
    ///
    /// - Parameter text: The text.
    /// - Returns: The message.
    package static func verbatim(_ text: some CustomStringConvertible) -> Message {
        Message(.verbatim(text.description))
    }

    /// A text of the configuration, which may have translations.
    ///
    /// - Parameter text: The text.
    /// - Returns: The message.
    static func localized(_ text: LocalizedText) -> Message { Message(.localized(text)) }

    /// The text without placeholders of a key.
    static func key(_ key: MessageKey) -> Message { Message(key) }

    /// Returns the text in the language of a translation.
    ///
    /// - Parameter translation: The translation.
    /// - Returns: The text.
    package func text(in translation: Translation) -> String {
        switch content {
        case .key(let key, let values): translation.text(key, values.mapValues { $0.text(in: translation) })
        case .verbatim(let text): text
        case .localized(let text): text.text(in: translation.language)
        }
    }
}
