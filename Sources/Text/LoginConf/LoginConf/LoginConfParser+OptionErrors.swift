// SPDX-License-Identifier: Apache-2.0

// Errors in the options of a module.

extension LoginConfParser {
    /// Handles an unexpected token where an option key or a `;` is expected.
    @inline(never)
    mutating func recoverOption(isFirst: Bool, of block: Block) -> Position {
        let isAfterValue = touchesPrevious && !isFirst
        switch token.kind {
        case .endOfFile:
            return reportUnclosedBlock(block, at: rangeAfterPrevious)
        case .closeBrace:
            let hint = "every module ends with `;`"
            diagnostics.error("missing `;` after the module", at: rangeAfterPrevious, hint: hint)
            return .endOfModule
        case .openBrace where isAfterValue, .equals where isAfterValue:
            skipInvalidSuffix(of: .value)
        case .openBrace:
            diagnostics.error("unexpected `{`", at: token.range, hint: "write the text in double quotes")
            skipBlock()
            return .endOfModule
        case .equals:
            diagnostics.error("unexpected `=`", at: token.range, hint: "an option is KEY=VALUE")
            return skipModule()
        case .invalidCharacter where isSeparatingComma:
            diagnostics.error("unexpected `,`", at: token.range, hint: "options are separated by white space")
            advance()
        case .invalidCharacter where touchesPrevious:
            skipInvalidSuffix(of: isFirst ? .flag : .value)
        case .invalidCharacter:
            guard replaceInvalidText(as: .key) else { break }
            advance()
            return skipValue()
        default: break
        }
        return .inModule
    }

    private var isSeparatingComma: Bool {
        let next = Int(token.end)
        guard text.bytes[Int(token.start)] == .comma else { return false }
        return !touchesPrevious || next >= text.bytes.count || ByteClass.of(text.bytes[next]) & ByteClass.space != 0
    }

    /// Skips the `=` and the value after a key whose error has been reported.
    private mutating func skipValue() -> Position {
        guard token.kind == .equals else { return skipModule() }
        advance()
        return takeText() == nil ? skipModule() : .inModule
    }

    /// Handles an unexpected token where the `=` after a key is expected.
    @inline(never)
    mutating func recoverEquals(after key: LoginConfToken, isFirst: Bool, of block: Block) -> Position {
        while token.kind == .invalidCharacter {
            guard touchesPrevious || beginsComment else { break }
            if touchesPrevious {
                skipInvalidSuffix(of: .key)
                // The error of the key has been reported; only the value is skipped.
                guard token.kind == .equals else { return skipModule() }
            } else {
                _ = replaceInvalidText(as: .key)
            }
        }
        if token.kind == .equals { return skipValue() }
        // A text directly follows a value, such as `"c"` in `a=b"c"`.
        if !isFirst, Int(key.start) > 0, endOfToken(before: key) == key.start {
            let hint = "a value is one word or one string: put all of it in double quotes"
            diagnostics.error("two option values in a row", at: key.range, hint: hint)
            return token.isText || token.kind == .invalidCharacter ? skipModule() : .inModule
        }
        switch token.kind {
        case .endOfFile:
            return reportUnclosedBlock(block, at: rangeAfterPrevious)
        case .semicolon, .closeBrace:
            let hint = "write \(DiagnosticText.text(string(of: key)))=\"true\", for example"
            diagnostics.error("the option \(shown(key)) has no value", at: key.range, hint: hint)
            return token.kind == .closeBrace ? .endOfModule : .inModule
        case .openBrace:
            return leaveUnclosedBlock(block, before: key)
        case .word where controlFlag(of: token) != nil, .string where controlFlag(of: token) != nil:
            let end = endOfToken(before: key)
            let hint = "every module ends with `;`, and \(shown(key)) begins the next module"
            diagnostics.error("missing `;` after the module", at: SourceRange(end, end), hint: hint)
            pendingClass = key
            return .endOfModule
        default:
            let message = "missing `=` after the option key \(shown(key))"
            diagnostics.error(message, at: rangeAfterPrevious, hint: "an option is KEY=VALUE")
            return skipModule()
        }
    }

    /// Returns the end of the text before a token, without the white space that separates it from the token.
    private func endOfToken(before token: LoginConfToken) -> UInt32 {
        var end = Int(token.start)
        while end > 0, ByteClass.of(text.bytes[end - 1]) & ByteClass.space != 0 { end -= 1 }
        return UInt32(end)
    }

    /// Handles an unexpected token where the value after `=` is expected.
    @inline(never)
    mutating func recoverValue(of key: LoginConfToken, in block: Block?) -> Position {
        while true {
            switch token.kind {
            case .word, .string:
                advance()
                return .inModule
            case .invalidCharacter, .equals:
                _ = replaceInvalidText(as: .value)
            case .openBrace:
                let before = token.start
                _ = replaceInvalidText(as: .value)
                if token.start == before, token.length == 1 { return skipModule() }
            case .semicolon, .closeBrace:
                let hint = "write \(DiagnosticText.text(string(of: key)))=\"\" if an empty value is meant"
                diagnostics.error("the option \(shown(key)) has no value", at: rangeAfterPrevious, hint: hint)
                return token.kind == .closeBrace ? .endOfModule : .inModule
            case .endOfFile, .wordWithByteOrderMark, .unterminatedString, .unterminatedComment:
                guard let block else { return .endOfBlock }
                return reportUnclosedBlock(block, at: rangeAfterPrevious)
            }
        }
    }

    /// Warns about a value in the curly quotes of a word processor; for the JDK they are a part of the value.
    @inline(never)
    mutating func warnOfCurlyQuote(_ option: ModuleOption) {
        guard let first = option.value.unicodeScalars.first, CurlyQuotes.opening.contains(first),
            !diagnostics.dropsWarnings
        else { return }
        let message = "the quotation mark \(first) is a part of the value"
        diagnostics.warning(message, at: option.valueRange, hint: "write the value in \" if it is not meant")
    }

    @inline(never)
    mutating func warnOfDuplicate(_ option: ModuleOption, earlier: ModuleOption) {
        if diagnostics.dropsWarnings { return }
        let hint = "the last value is used; the earlier one is at \(text.place(of: earlier.keyRange))"
        let message = "the option \(DiagnosticText.word(option.key)) is set twice in this module"
        diagnostics.warning(message, at: option.keyRange, hint: hint)
    }
}
