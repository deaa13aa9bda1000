// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A word of realms.conf and its place.
public struct Word: Sendable, Hashable {
    /// The text without quotes, with `\"` and `\\` resolved and `${...}` as written.
    public let text: String
    /// The place of the word, with its quotes.
    public let range: SourceRange
    /// True if the word is in double quotes.
    public let isQuoted: Bool
    /// True if the word is the first of its line.
    ///
    /// If it is an argument, the `;` before it is probably missing.
    public let beginsLine: Bool

    /// Creates a word.
    ///
    /// - Parameters:
    ///   - text: The text, without quotes and escapes.
    ///   - range: The place of the word.
    ///   - isQuoted: True if the word is in double quotes.
    ///   - beginsLine: True if the word is the first of its line.
    public init(_ text: String, range: SourceRange = .none, isQuoted: Bool = false, beginsLine: Bool = false) {
        self.text = text
        self.range = range
        self.isQuoted = isQuoted
        self.beginsLine = beginsLine
    }

    /// Returns the text with `${name}`, `${/}`, `${env:NAME}` and `${file:PATH}` replaced, once.
    ///
    /// `${{...}}` is left as it is. Unlike in login.conf an unclosed `${` is an error.
    ///
    /// - Parameters:
    ///   - expansion: The values of the references.
    ///   - source: The text that the word was read from.
    /// - Returns: The expanded text.
    /// - Throws: An error at a reference that is undefined or unreadable, or at the word if it expands to nothing or to
    ///   bytes that are not UTF-8.
    public func expanded(by expansion: Expansion, in source: SourceText) throws(Diagnostic) -> String {
        do throws(Expander.Fault) {
            return try Expander(syntax: .strict, expansion: expansion).string(of: text)
        } catch {
            throw source.diagnostic(of: error, in: range)
        }
    }

    /// Returns the same as ``expanded(by:in:)`` as bytes, so that a secret need not become a `String`.
    ///
    /// - Parameters:
    ///   - expansion: The values of the references.
    ///   - source: The text that the word was read from.
    /// - Returns: The bytes; those of a file need not be UTF-8.
    /// - Throws: An error at a reference that is undefined or unreadable, or at the word if it expands to nothing.
    public func expandedBytes(by expansion: Expansion, in source: SourceText) throws(Diagnostic) -> [UInt8] {
        do throws(Expander.Fault) {
            return try Expander(syntax: .strict, expansion: expansion).bytes(of: text)
        } catch {
            throw source.diagnostic(of: error, in: range)
        }
    }
}
