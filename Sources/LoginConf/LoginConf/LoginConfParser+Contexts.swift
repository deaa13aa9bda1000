// SPDX-License-Identifier: Apache-2.0
// Gatehouse

// Errors around the braces of a context.

extension LoginConfParser {
    /// Handles a token that is not the name of a context.
    @inline(never)
    mutating func recoverBetweenEntries() {
        switch token.kind {
        case .semicolon:
            let isAfterBlock = previous.kind == .semicolon || previous.kind == .closeBrace
            let hint = isAfterBlock ? "one `;` after `}` is enough" : "a login context begins with its name"
            diagnoses.error("unexpected `;`", at: token.range, hint: hint)
            while token.kind == .semicolon { advance() }
            // The `;` is in the place of a name.
            if token.kind == .openBrace { skipBlock() }
        case .closeBrace:
            diagnoses.error("unexpected `}`", at: token.range, hint: "no block is open here")
            advance()
            if token.kind == .semicolon { advance() }
        case .openBrace:
            let hint = "write `NAME { ... };`"
            diagnoses.error("a login context needs a name before `{`", at: token.range, hint: hint)
            skipBlock()
        case .equals:
            diagnoses.error("unexpected `=`", at: token.range, hint: "a login context begins with its name")
            skip { $0 == .openBrace || $0 == .semicolon || $0 == .closeBrace }
            if token.kind == .openBrace { skipBlock() } else { advance() }
        case .other:
            guard mendOther(as: .name), peek().kind != .openBrace else { break }
            // One error is enough, whatever follows.
            skip { $0 == .openBrace || $0 == .semicolon || $0 == .closeBrace }
            if token.kind == .openBrace { skipBlock() } else { advance() }
        case .word, .string, .markedWord, .openString, .openComment, .endOfFile:
            break
        }
    }

    /// Handles a token other than `{` after the name of a context.
    ///
    /// - Returns: True if the modules begin here, at a `{` or without one.
    @inline(never)
    mutating func recoverOpenBrace(after name: LoginConfToken) -> Bool {
        while token.kind == .other {
            if isGlued, string(of: name).hasSuffix("*"), text.bytes[Int(token.start)] == .slash {
                let end = SourceRange(token.start - 1, token.end)
                diagnoses.error("`*/` outside of a comment", at: end, hint: "comments do not nest")
                advance()
                return false
            }
            if isGlued {
                mendGlued(.name)
            } else if beginsComment {
                _ = mendOther(as: .name)
            } else {
                break
            }
        }
        let isBlockNext = peek().kind == .openBrace
        let write = "write `\(Displayed.text(string(of: name))) {`"
        switch token.kind {
        case .openBrace:
            return true
        case .word, .string:
            if name.kind == .word, string(of: name) == "include" {
                let hint = "name each file in a `login-config` statement of realms.conf"
                diagnoses.error("login.conf has no `include`", at: name.range, hint: hint)
                skip { $0 == .semicolon || $0 == .openBrace || $0 == .closeBrace }
                if token.kind == .semicolon { advance() }
                return token.kind == .openBrace
            }
            if isBlockNext {
                let both = SourceRange(name.start, token.end)
                let hint = "write \(LoginConfEscapes.quoted(string(of: name) + " " + string(of: token)))"
                diagnoses.error("a context name with a space needs double quotes", at: both, hint: hint)
                advance()
                return true
            }
            diagnoses.error("missing `{` after the context name \(shown(name))", at: gap, hint: write)
            if controlFlag(of: peek()) != nil { return true }
        case .semicolon, .closeBrace, .equals, .other, .endOfFile, .markedWord, .openString, .openComment:
            diagnoses.error("missing `{` after the context name \(shown(name))", at: gap, hint: write)
        }
        skip { $0 == .semicolon || $0 == .openBrace || $0 == .closeBrace }
        if token.kind == .openBrace { return true }
        if token.kind == .closeBrace { advance() }
        if token.kind == .semicolon { advance() }
        return false
    }

    /// True if the current token begins a comment in another language.
    var beginsComment: Bool {
        let byte = text.bytes[Int(token.start)]
        return byte == .hash || byte == .slash
    }

    @inline(never)
    mutating func reportMissingSemicolonAfterBlock() {
        diagnoses.error("missing `;` after `}`", at: gap, hint: "write `};`")
    }

    @inline(never)
    mutating func reportEmptyBlock(of name: LoginConfToken) {
        let hint = "the JDK ignores an empty context and uses `other`; remove it or add a module"
        diagnoses.error("the context \(shown(name)) has no modules", at: name.range, hint: hint)
    }

    /// Reports a block that is not closed before the end of the file or the next context.
    @inline(never)
    mutating func reportOpenBlock(_ block: Block, at range: SourceRange) -> Step {
        if diagnoses.dropsErrors { return .endOfBlock }
        let close =
            switch dialect {
            case .file: "};"
            case .inlineBlock: "}"
            }
        let hint = "the block begins at \(text.place(of: block.open.range)); close it with `\(close)`"
        diagnoses.error("the block of \(shown(block.name)) is not closed", at: range, hint: hint)
        return .endOfBlock
    }

    /// Leaves a block whose `}` is missing before a token that begins the next statement.
    mutating func abandon(_ block: Block, before next: LoginConfToken) -> Step {
        switch dialect {
        case .file: pendingName = next
        case .inlineBlock: resumeOffset = next.start
        }
        return reportOpenBlock(block, at: SourceRange(next.start, next.start))
    }
}
