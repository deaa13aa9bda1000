// SPDX-License-Identifier: Apache-2.0

internal import LoginConf
internal import RealmKit

/// The declaration of a block: its statements, each with the setting that it changes.
struct BlockSchema<Settings>: Sendable {
    /// The name of the block in messages.
    let name: String
    /// An example of the block, for a hint.
    var example: String?
    let statements: [StatementSchema<Settings>]
    /// Checks what depends on several statements, when all of them have been read.
    var check: @Sendable (Block, inout Settings) -> Void = { _, _ in }

    var keywords: [String] { statements.map(\.keyword) }
    /// The keywords of the statements and of those in their blocks.
    var allKeywords: [String] { statements.flatMap { [$0.keyword] + $0.innerKeywords } }

    /// Reads a statement that takes a block and no words.
    func read(_ statement: Statement, into settings: inout Settings, in builder: ConfigurationBuilder) {
        guard let statements = builder.block(statement, hint: example.map { "as in: \($0)" }) else { return }
        read(statements, at: statement.keyword.range, into: &settings, in: builder)
    }

    /// Reads the statements of a block; a setting keeps its value if its statement is missing or has an error.
    func read(
        _ block: [Statement],
        at place: SourceRange,
        into settings: inout Settings,
        in builder: ConfigurationBuilder
    ) {
        let repeated = statements.filter(\.isRepeated).map(\.keyword)
        let block = Block(block, of: name, keywords, repeated: repeated, at: place, in: builder)
        for statement in statements where block.first(statement.keyword) != nil { statement.read(block, &settings) }
        check(block, &settings)
    }
}

/// The declaration of a statement: its keyword, and how its words change the settings of its block.
struct StatementSchema<Settings>: Sendable {
    typealias Setting<Value> = any WritableKeyPath<Settings, Value> & Sendable

    let keyword: String
    var isRepeated = false
    /// The keywords in the block of the statement, for messages; see ``KnownNames``.
    var innerKeywords: [String] = []
    /// Reads the statements of the keyword, of which there is at least one; reports a mistake.
    let read: @Sendable (Block, inout Settings) -> Void

    /// A statement that the check of its block reads, because it has no meaning without another statement.
    static func checked(_ keyword: String) -> Self { Self(keyword: keyword) { _, _ in } }

    /// A setting whose value `value` reads; nil if there was a mistake, which it has reported.
    static func value<Value>(
        _ keyword: String,
        _ setting: Setting<Value>,
        isRepeated: Bool = false,
        _ value: @escaping @Sendable (Block, _ keyword: String) -> Value?
    ) -> Self {
        Self(keyword: keyword, isRepeated: isRepeated) { block, settings in
            if let value = value(block, keyword) { settings[keyPath: setting] = value }
        }
    }

    static func integer(_ keyword: String, _ bounds: ClosedRange<Int>, _ setting: Setting<Int>) -> Self {
        value(keyword, setting) { $0.integer($1, bounds) }
    }

    static func duration(_ keyword: String, _ bounds: ClosedRange<Duration>, _ setting: Setting<Duration>) -> Self {
        value(keyword, setting) { $0.duration($1, bounds) }
    }

    static func flag(_ keyword: String, _ setting: Setting<Bool>) -> Self {
        value(keyword, setting) { $0.flag($1) }
    }

    static func choice<Choice: RawRepresentable<String> & CaseIterable & Sendable>(
        _ keyword: String,
        _ setting: Setting<Choice>
    ) -> Self {
        value(keyword, setting) { $0.choice($1) }
    }

    static func block<Inner>(_ keyword: String, _ setting: Setting<Inner>, _ schema: BlockSchema<Inner>) -> Self {
        Self(keyword: keyword, innerKeywords: schema.allKeywords) { block, settings in
            guard let statement = block.first(keyword) else { return }
            schema.read(statement, into: &settings[keyPath: setting], in: block.builder)
        }
    }
}
