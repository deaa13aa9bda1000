// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A statement of realms.conf: a keyword, words, and perhaps a block.
///
/// What the keyword means, and which words it takes, is not known here.
public struct Statement: Sendable, Hashable {
    /// What follows the words of a statement.
    public enum Body: Sendable, Hashable {
        /// A `;`.
        case none
        /// A block of statements.
        case block([Statement])
        /// The modules of a `login` block, at least one, their option values not yet expanded.
        case login([ModuleEntry])
    }

    /// The keyword; never in quotes.
    public let keyword: Word
    /// The words after the keyword.
    public let arguments: [Word]
    /// What follows them.
    public let body: Body
    /// The statement from its keyword up to its `;` or `}`.
    public let range: SourceRange

    /// A statement.
    public init(keyword: Word, arguments: [Word] = [], body: Body = .none, range: SourceRange = .none) {
        self.keyword = keyword
        self.arguments = arguments
        self.body = body
        self.range = range
    }
}
