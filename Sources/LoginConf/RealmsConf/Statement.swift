// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A statement of realms.conf: a keyword, words, and possibly a block.
///
/// The meaning of the keyword, and the words it takes, are not checked here.
public struct Statement: Sendable, Hashable {
    /// The end of a statement.
    public enum Body: Sendable, Hashable {
        /// A `;`.
        case none
        /// A block of statements.
        case block([Statement])
        /// The modules of a `login` block, at least one; their option values are not expanded.
        case login([ModuleEntry])
    }

    /// The keyword, without quotes.
    public let keyword: Word
    /// The words after the keyword.
    public let arguments: [Word]
    /// The `;` or the block after the words.
    public let body: Body
    /// The place of the statement, from its keyword to its `;` or `}`.
    public let range: SourceRange

    /// Creates a statement.
    public init(keyword: Word, arguments: [Word] = [], body: Body = .none, range: SourceRange = .none) {
        self.keyword = keyword
        self.arguments = arguments
        self.body = body
        self.range = range
    }
}
