// SPDX-License-Identifier: Apache-2.0

/// A word of realms.conf and its place.
public struct RealmsConfWord: Sendable, Hashable {
    /// The text without quotes and escapes; references `${...}` are not expanded.
    public let text: String
    /// The place of the word, with its quotes.
    public let range: SourceRange
    /// True if the word is in double quotes.
    public let isQuoted: Bool
    /// True if the word is the first of its line.
    ///
    /// If such a word is an argument, the `;` before it is probably missing.
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

    /// Returns the text with `${name}`, `${/}`, `${env:NAME}` and `${file:PATH}` replaced.
    ///
    /// References in a replacement are not expanded. `${{...}}` is not changed. An unclosed `${` is an error, but not in
    /// login.conf.
    ///
    /// - Parameters:
    ///   - expansion: The values of the references.
    ///   - source: The text that the word was read from.
    /// - Returns: The expanded text.
    /// - Throws: An error if a reference is undefined, if a file cannot be read, or if the word expands to nothing or
    ///   to bytes that are not UTF-8.
    public func expanded(by expansion: Expansion, in source: SourceText) throws(Diagnostic) -> String {
        do throws(Expander.Fault) {
            return try Expander(syntax: .strict, expansion: expansion).string(of: text)
        } catch {
            throw source.diagnostic(of: error, in: range)
        }
    }

    /// Returns the expanded text as bytes; see ``expanded(by:in:)``.
    ///
    /// Use it for secrets: the content of a file is not converted to a `String`.
    ///
    /// - Parameters:
    ///   - expansion: The values of the references.
    ///   - source: The text that the word was read from.
    /// - Returns: The bytes; the content of a file may be any bytes.
    /// - Throws: An error if a reference is undefined, if a file cannot be read, or if the word expands to nothing.
    public func expandedBytes(by expansion: Expansion, in source: SourceText) throws(Diagnostic) -> [UInt8] {
        do throws(Expander.Fault) {
            return try Expander(syntax: .strict, expansion: expansion).bytes(of: text)
        } catch {
            throw source.diagnostic(of: error, in: range)
        }
    }
}
