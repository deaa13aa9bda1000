// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A stored password: its text, and the hash that it is.
public struct StoredPassword: Sendable {
    /// The text as it is stored.
    public let text: String
    /// What the text says.
    public let hash: any PasswordHash

    /// Reads a stored password.
    ///
    /// - Parameters:
    ///   - text: The stored text.
    ///   - options: What the place it comes from says about it.
    /// - Throws: ``BadHash`` if it is of no known format, broken, or too costly to be tried.
    public init(_ text: String, _ options: FormatOptions = .init()) throws(BadHash) {
        self.text = text
        hash = try PasswordFormats.read(text, options)
    }
}
