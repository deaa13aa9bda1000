// SPDX-License-Identifier: Apache-2.0

/// A stored password: the stored text, and the hash read from the text.
public struct StoredPassword: Sendable {
    /// The text as it is stored.
    public let text: String
    /// The hash read from the text.
    public let hash: any PasswordHash

    /// Creates a stored password whose hash was read in another way.
    init(text: String, hash: any PasswordHash) {
        self.text = text
        self.hash = hash
    }

    /// Reads a stored password.
    ///
    /// - Parameters:
    ///   - text: The stored text.
    ///   - options: The options of the store.
    /// - Throws: ``BadHash`` if the format is unknown, the text is malformed, or a check would be too costly.
    public init(_ text: String, options: FormatOptions = .init()) throws(BadHash) {
        self.text = text
        hash = try PasswordFormats.read(text, options: options)
    }
}
