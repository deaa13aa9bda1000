// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

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
            skipToBraceOrSemicolon()
            if token.kind == .openBrace { skipBlock() } else { advance() }
        case .invalidCharacter:
            guard replaceInvalidText(as: .name), peek().kind != .openBrace else { break }
            // The rest of the context is skipped, so that there is only one error.
            skipToBraceOrSemicolon()
            if token.kind == .openBrace { skipBlock() } else { advance() }
        default: break
        }
    }

    /// Handles a token other than `{` after the name of a context; returns true if the modules begin here, even without it.
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
                skipToBraceOrSemicolon()
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
        default:
            diagnostics.error("missing `{` after the context name \(shown(name))", at: rangeAfterPrevious, hint: write)
        }
        skipToBraceOrSemicolon()
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

// Errors in the class and the flag of a module.

extension LoginConfParser {
    /// Words that only PAM allows in the place of a control flag.
    private static let pamKeywords: Set<String> = ["include", "substack", "binding"]

    /// Handles an unexpected token where a class name or a `}` is expected.
    @inline(never)
    mutating func recoverModule(of block: Block, isFirst: Bool) -> Position {
        switch token.kind {
        case .endOfFile:
            return reportUnclosedBlock(block, at: rangeAfterPrevious)
        case .semicolon:
            if endsBlock {
                defer { advance() }
                return reportUnclosedBlock(block, at: SourceRange(token.start, token.start))
            }
            let hint = isFirst ? "a module begins with its class name" : "one `;` ends a module"
            diagnostics.error("unexpected `;`", at: token.range, hint: hint)
            while token.kind == .semicolon { advance() }
        case .openBrace:
            diagnostics.error("unexpected `{`", at: token.range, hint: "a block holds modules only")
            skipBlock()
        case .equals:
            diagnostics.error("unexpected `=`", at: token.range, hint: "a module begins with its class name")
            return skipModule()
        case .invalidCharacter:
            _ = replaceInvalidText(as: .className)
        default: break
        }
        return .inModule
    }

    /// True if the end of the file or the next context follows the current `;`: the `}` before it is probably missing.
    private var endsBlock: Bool {
        var ahead = scanner
        let next = ahead.next()
        return next.kind == .endOfFile || next.isText && ahead.next().kind == .openBrace
    }

    /// Handles an unexpected token where the control flag of a module is expected.
    @inline(never)
    mutating func recoverFlag(
        _ flag: inout ControlFlag,
        after className: LoginConfToken,
        of block: Block,
        isFirst: Bool
    ) -> Position {
        while token.kind == .invalidCharacter {
            if touchesPrevious {
                skipInvalidSuffix(of: .className)
            } else if replaceInvalidText(as: .flag) {
                return skipModule()
            }
        }
        if let known = controlFlag(of: token) {
            flag = known
            advance()
            return .inModule
        }
        switch token.kind {
        case .equals:
            return recoverStrayOption(className, isFirst: isFirst)
        case .openBrace:
            if !isFirst { return leaveUnclosedBlock(block, before: className) }
            diagnostics.error("unexpected `{`", at: token.range, hint: "a block holds modules only")
            skipBlock()
            return .endOfModule
        case .endOfFile:
            return reportUnclosedBlock(block, at: rangeAfterPrevious)
        case .word, .string:
            return recoverUnknownFlag(after: className, of: block, isFirst: isFirst)
        default:
            reportMissingFlag(of: className, at: rangeAfterPrevious)
            return token.kind == .closeBrace ? .endOfModule : .inModule
        }
    }

    private mutating func recoverUnknownFlag(
        after className: LoginConfToken,
        of block: Block,
        isFirst: Bool
    ) -> Position {
        // An unclosed string has been reported already.
        guard token.content != .replacement else { return skipModule() }
        let word = string(of: token)
        let next = peek()
        if next.kind == .equals {
            reportMissingFlag(of: className, at: rangeAfterPrevious)
            return .inModule
        }
        if case .inlineBlock = dialect, next.kind == .openBrace, !isFirst {
            // The next statement of realms.conf begins here, such as `realm NAME {`.
            return leaveUnclosedBlock(block, before: className)
        }
        if controlFlag(of: next) != nil, hasLineEnd(before: token) {
            reportMissingFlag(of: className, at: rangeAfterPrevious)
            pendingClass = takeText()
            return .endOfModule
        }
        let message = "\(DiagnosticText.word(word)) is not a control flag"
        let flags = ControlFlag.allCases.map(\.rawValue)
        var (hint, isMeant) = (Self.flagsHint, false)
        if Self.pamKeywords.contains(word) {
            hint = "`\(word)` is a word of PAM, not of JAAS; \(Self.flagsHint)"
        } else if let meant = flags.first(where: { $0.uppercased() == word.uppercased() }) {
            (hint, isMeant) = ("write `\(meant)` in ASCII letters", true)
        } else if let meant = NearestName.suggest(word, among: flags) {
            (hint, isMeant) = ("did you mean `\(meant)`?", true)
        }
        diagnostics.error(message, at: token.range, hint: hint)
        guard isMeant else { return skipModule() }
        advance()
        return .inModule
    }

    /// Handles an option where a module should begin; usually there is a wrong `;` before it.
    private mutating func recoverStrayOption(_ key: LoginConfToken, isFirst: Bool) -> Position {
        guard !isFirst else {
            let hint = "a module begins with its class name and its control flag"
            diagnostics.error("the option \(shown(key)) is not in a module", at: key.range, hint: hint)
            return skipModule()
        }
        if !isContinuingModule {
            let hint = "remove the `;` before it: a `;` ends the module; options are separated by white space"
            diagnostics.error("the option \(shown(key)) comes after the end of its module", at: key.range, hint: hint)
            isContinuingModule = true
        }
        advance()
        guard takeText() != nil else { return recoverValue(of: key, in: nil) }
        return .inModule
    }

    private mutating func reportMissingFlag(of className: LoginConfToken, at range: SourceRange) {
        diagnostics.error("the control flag of \(shown(className)) is missing", at: range, hint: Self.flagsHint)
    }

    static let flagsHint = "the flags are required, requisite, sufficient, optional"

    private func hasLineEnd(before token: LoginConfToken) -> Bool {
        text.bytes[Int(previous.end)..<Int(token.start)].contains(where: \.isLineEnd)
    }

    @inline(never)
    mutating func reportEmptyClass(_ className: LoginConfToken) {
        diagnostics.error("the class name is empty", at: className.range)
    }
}
