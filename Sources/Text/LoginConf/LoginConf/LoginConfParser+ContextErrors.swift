// SPDX-License-Identifier: Apache-2.0

// Errors in the name and the braces of a context.

extension LoginConfParser {
    /// Handles a token that cannot be the name of a context, where a name is expected.
    @inline(never)
    mutating func recoverBetweenEntries() {
        switch token.kind {
        case .semicolon:
            let isAfterBlock = previous.kind == .semicolon || previous.kind == .closeBrace
            let hint = isAfterBlock ? "one `;` after `}` is enough" : "a login context begins with its name"
            diagnostics.error("unexpected `;`", at: token.range, hint: hint)
            while token.kind == .semicolon { advance() }
            // In `; {` the `;` stands in the place of the name.
            if token.kind == .openBrace { skipBlock() }
        case .closeBrace:
            diagnostics.error("unexpected `}`", at: token.range, hint: "no block is open here")
            advance()
            if token.kind == .semicolon { advance() }
        case .openBrace:
            let hint = "write `NAME { ... };`"
            diagnostics.error("a login context needs a name before `{`", at: token.range, hint: hint)
            skipBlock()
        case .equals:
            diagnostics.error("unexpected `=`", at: token.range, hint: "a login context begins with its name")
            skip { $0 == .openBrace || $0 == .semicolon || $0 == .closeBrace }
            if token.kind == .openBrace { skipBlock() } else { advance() }
        case .invalidCharacter:
            guard replaceInvalidText(as: .name), peek().kind != .openBrace else { break }
            // The rest of the context is skipped, so that there is only one error.
            skip { $0 == .openBrace || $0 == .semicolon || $0 == .closeBrace }
            if token.kind == .openBrace { skipBlock() } else { advance() }
        case .word, .string, .wordWithByteOrderMark, .unterminatedString, .unterminatedComment, .endOfFile:
            break
        }
    }

    /// Handles a token other than `{` after the name of a context.
    ///
    /// - Returns: True if the modules begin here; the `{` may be missing.
    @inline(never)
    mutating func recoverOpenBrace(after name: LoginConfToken) -> Bool {
        while token.kind == .invalidCharacter {
            if touchesPrevious, string(of: name).hasSuffix("*"), text.bytes[Int(token.start)] == .slash {
                let end = SourceRange(token.start - 1, token.end)
                diagnostics.error("`*/` outside of a comment", at: end, hint: "comments do not nest")
                advance()
                return false
            }
            if touchesPrevious {
                skipInvalidSuffix(of: .name)
            } else if beginsComment {
                _ = replaceInvalidText(as: .name)
            } else {
                break
            }
        }
        let isBlockNext = peek().kind == .openBrace
        let write = "write `\(DiagnosticText.text(string(of: name))) {`"
        switch token.kind {
        case .openBrace:
            return true
        case .word, .string:
            if name.kind == .word, string(of: name) == "include" {
                let hint = "name each file in a `login-config` statement of realms.conf"
                diagnostics.error("login.conf has no `include`", at: name.range, hint: hint)
                skip { $0 == .semicolon || $0 == .openBrace || $0 == .closeBrace }
                if token.kind == .semicolon { advance() }
                return token.kind == .openBrace
            }
            if isBlockNext {
                let both = SourceRange(name.start, token.end)
                let hint = "write \(LoginConfEscapes.quoted(string(of: name) + " " + string(of: token)))"
                diagnostics.error("a context name with a space needs double quotes", at: both, hint: hint)
                advance()
                return true
            }
            diagnostics.error("missing `{` after the context name \(shown(name))", at: rangeAfterPrevious, hint: write)
            if controlFlag(of: peek()) != nil { return true }
        case .semicolon, .closeBrace, .equals, .invalidCharacter, .endOfFile, .wordWithByteOrderMark,
            .unterminatedString, .unterminatedComment:
            diagnostics.error("missing `{` after the context name \(shown(name))", at: rangeAfterPrevious, hint: write)
        }
        skip { $0 == .semicolon || $0 == .openBrace || $0 == .closeBrace }
        if token.kind == .openBrace { return true }
        if token.kind == .closeBrace { advance() }
        if token.kind == .semicolon { advance() }
        return false
    }

    /// True if the current token may begin a comment in another language: `#` or `/`.
    var beginsComment: Bool {
        let byte = text.bytes[Int(token.start)]
        return byte == .hash || byte == .slash
    }

    @inline(never)
    mutating func reportMissingSemicolonAfterBlock() {
        diagnostics.error("missing `;` after `}`", at: rangeAfterPrevious, hint: "write `};`")
    }

    @inline(never)
    mutating func reportEmptyBlock(of name: LoginConfToken) {
        let hint = "the JDK ignores an empty context and uses `other`; remove it or add a module"
        diagnostics.error("the context \(shown(name)) has no modules", at: name.range, hint: hint)
    }

    /// Reports a block without a `}`, at the end of the file or at the next context.
    @inline(never)
    mutating func reportUnclosedBlock(_ block: Block, at range: SourceRange) -> Position {
        if diagnostics.dropsErrors { return .endOfBlock }
        let close =
            switch dialect {
            case .file: "};"
            case .inlineBlock: "}"
            }
        let hint = "the block begins at \(text.place(of: block.open.range)); close it with `\(close)`"
        diagnostics.error("the block of \(shown(block.name)) is not closed", at: range, hint: hint)
        return .endOfBlock
    }

    /// Reports a block without a `}`, and continues at the token that begins the next statement.
    mutating func leaveUnclosedBlock(_ block: Block, before next: LoginConfToken) -> Position {
        switch dialect {
        case .file: pendingName = next
        case .inlineBlock: resumeOffset = next.start
        }
        return reportUnclosedBlock(block, at: SourceRange(next.start, next.start))
    }
}
