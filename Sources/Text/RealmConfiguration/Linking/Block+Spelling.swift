// SPDX-License-Identifier: Apache-2.0

internal import LoginConf

extension Block {
    /// Returns a statement without the `=` or `:` that other languages have between keyword and value, and reports it.
    ///
    /// - Parameters:
    ///   - statement: The statement.
    ///   - keywords: The keywords of the block.
    ///   - builder: The builder that collects the errors.
    /// - Returns: The statement as it was probably meant.
    static func withoutSign(
        _ statement: Statement,
        among keywords: [String],
        in builder: ConfigurationBuilder
    ) -> Statement {
        let keyword = statement.keyword
        guard !keyword.isQuoted else { return statement }
        if keywords.contains(keyword.text) {
            // In `protect = /path`, the sign is a part of the target.
            guard keyword.text != "protect", let sign = statement.arguments.first, !sign.isQuoted,
                ["=", ":", ":="].contains(sign.text)
            else { return statement }
            let rest = Array(statement.arguments.dropFirst())
            return report(sign.text, at: sign.range, keyword: keyword, arguments: rest, of: statement, in: builder)
        }
        guard let place = keyword.text.firstIndex(where: { $0 == "=" || $0 == ":" }) else { return statement }
        let stem = String(keyword.text[..<place])
        guard keywords.contains(stem) else { return statement }
        let value = String(keyword.text[keyword.text.index(after: place)...])
        return report(
            String(keyword.text[place]),
            at: keyword.range,
            keyword: RealmsConfWord(stem, range: keyword.range, beginsLine: keyword.beginsLine),
            arguments: (value.isEmpty ? [] : [RealmsConfWord(value, range: keyword.range)]) + statement.arguments,
            of: statement,
            in: builder
        )
    }

    private static func report(
        _ sign: String,
        at range: SourceRange,
        keyword: RealmsConfWord,
        arguments: [RealmsConfWord],
        of statement: Statement,
        in builder: ConfigurationBuilder
    ) -> Statement {
        let meant = Statement(keyword: keyword, arguments: arguments, body: statement.body, range: statement.range)
        let isEmpty = arguments.isEmpty && statement.body == .none
        let message = "no \(sign) between a keyword and its value"
        builder.error(at: range, message, hint: isEmpty ? nil : "write \(meant.correction(in: builder.text))")
        return meant
    }
}
