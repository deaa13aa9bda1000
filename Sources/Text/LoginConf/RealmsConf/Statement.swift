// SPDX-License-Identifier: Apache-2.0

/// A statement of realms.conf: a keyword and words, and a `;` or a block at the end.
///
/// The parser does not check the keyword and its words.
public struct Statement: Sendable, Hashable {
    /// The `;` or the block at the end of a statement.
    public enum Body: Sendable, Hashable {
        /// A `;` without a block.
        case none
        /// A block of statements.
        case block([Statement])
        /// The modules of a `login` block, at least one, with option values that are not expanded.
        case login([ModuleEntry])
    }

    /// The keyword, without quotes.
    public let keyword: RealmsConfWord
    /// The words after the keyword.
    public let arguments: [RealmsConfWord]
    /// The `;` or the block after the words.
    public let body: Body
    /// The place of the statement, from its keyword to its `;` or `}`.
    public let range: SourceRange

    /// Creates a statement.
    public init(
        keyword: RealmsConfWord,
        arguments: [RealmsConfWord] = [],
        body: Body = .none,
        range: SourceRange = .none
    ) {
        self.keyword = keyword
        self.arguments = arguments
        self.body = body
        self.range = range
    }
}
