// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A word of realms.conf: its text, and where it stands.
public struct Word: Sendable, Hashable {
    /// The text without quotes, `\"` and `\\` resolved, `${...}` as written.
    public let text: String
    /// Where the word stands, with its quotes.
    public let range: SourceRange
    /// Whether it stands in double quotes.
    public let isQuoted: Bool
    /// Whether it is the first word of its line: an argument for which this is so often tells of a missing `;`.
    public let beginsLine: Bool

    /// A word.
    ///
    /// - Parameters:
    ///   - text: The text, without quotes and escapes.
    ///   - range: Where it stands.
    ///   - isQuoted: Whether it stands in double quotes.
    ///   - beginsLine: Whether it is the first of its line.
    public init(_ text: String, range: SourceRange = .none, isQuoted: Bool = false, beginsLine: Bool = false) {
        self.text = text
        self.range = range
        self.isQuoted = isQuoted
        self.beginsLine = beginsLine
    }

    /// The text with `${name}`, `${/}`, `${env:NAME}` and `${file:PATH}` replaced, once.
    ///
    /// `${{...}}` is left as it is. Unlike in login.conf a `${` that is not closed is an error.
    ///
    /// - Parameters:
    ///   - expansion: What the references stand for.
    ///   - source: The text that the word was read from.
    /// - Returns: The text with nothing left to expand.
    /// - Throws: An error at the reference that is undefined or unreadable, or at the word if it expands to nothing
    ///   or to bytes that are not UTF-8.
    public func expanded(by expansion: Expansion, in source: SourceText) throws(Diagnostic) -> String {
        do throws(Expander.Fault) {
            return try Expander(syntax: .strict, expansion: expansion).string(of: text)
        } catch {
            throw source.diagnostic(of: error, in: range)
        }
    }

    /// The same as ``expanded(by:in:)`` as bytes, so that a secret need not become a `String`.
    ///
    /// - Parameters:
    ///   - expansion: What the references stand for.
    ///   - source: The text that the word was read from.
    /// - Returns: The bytes, which need not be UTF-8 where they come from a file.
    /// - Throws: An error at the reference that is undefined or unreadable, or at the word if it expands to nothing.
    public func expandedBytes(by expansion: Expansion, in source: SourceText) throws(Diagnostic) -> [UInt8] {
        do throws(Expander.Fault) {
            return try Expander(syntax: .strict, expansion: expansion).bytes(of: text)
        } catch {
            throw source.diagnostic(of: error, in: range)
        }
    }
}
