// SPDX-License-Identifier: Apache-2.0
// Gatehouse

// Errors in the options of a module.

extension LoginConfParser {
    /// Handles a token that is neither an option key nor `;`.
    @inline(never)
    mutating func recoverOption(isFirst: Bool, of block: Block) -> Step {
        let isAfterValue = isGlued && !isFirst
        switch token.kind {
        case .endOfFile:
            return reportOpenBlock(block, at: gap)
        case .closeBrace:
            diagnoses.error("missing `;` after the module", at: gap, hint: "every module ends with `;`")
            return .endOfModule
        case .openBrace where isAfterValue, .equals where isAfterValue:
            mendGlued(.value)
        case .openBrace:
            diagnoses.error("unexpected `{`", at: token.range, hint: "write the text in double quotes")
            skipBlock()
            return .endOfModule
        case .equals:
            diagnoses.error("unexpected `=`", at: token.range, hint: "an option is KEY=VALUE")
            return skipModule()
        case .other where isSeparatingComma:
            diagnoses.error("unexpected `,`", at: token.range, hint: "options are separated by white space")
            advance()
        case .other where isGlued:
            mendGlued(isFirst ? .flag : .value)
        case .other:
            return mendOther(as: .key) ? recoverOddKey() : .goOn
        case .word, .string, .semicolon, .markedWord, .openString, .openComment:
            break
        }
        return .goOn
    }

    private var isSeparatingComma: Bool {
        let next = Int(token.end)
        guard text.bytes[Int(token.start)] == .comma else { return false }
        return !isGlued || next >= text.bytes.count || ByteClass.of(text.bytes[next]) & ByteClass.space != 0
    }

    /// Skips an option whose key is the current token and has been reported.
    private mutating func recoverOddKey() -> Step {
        advance()
        guard token.kind == .equals else { return skipModule() }
        advance()
        return takeText() == nil ? skipModule() : .goOn
    }

    /// Handles a token other than `=` after a key.
    @inline(never)
    mutating func recoverEquals(after key: LoginConfToken, isFirst: Bool, of block: Block) -> Step {
        while token.kind == .other {
            guard isGlued || beginsComment else { break }
            if isGlued {
                mendGlued(.key)
                // The key has been reported, so only its value is left.
                guard token.kind == .equals else { return skipModule() }
            } else {
                _ = mendOther(as: .key)
            }
        }
        if token.kind == .equals {
            advance()
            return takeText() == nil ? skipModule() : .goOn
        }
        if let message = mistakeBefore(key, isFirst: isFirst) {
            diagnoses.error(message.text, at: message.range, hint: message.hint)
            return token.isText || token.kind == .other ? skipModule() : .goOn
        }
        switch token.kind {
        case .endOfFile:
            return reportOpenBlock(block, at: gap)
        case .semicolon, .closeBrace:
            let hint = "write \(Displayed.text(string(of: key)))=\"true\", for example"
            diagnoses.error("the option \(shown(key)) has no value", at: key.range, hint: hint)
            return token.kind == .closeBrace ? .endOfModule : .goOn
        case .openBrace:
            return abandon(block, before: key)
        case .word where controlFlag(of: token) != nil, .string where controlFlag(of: token) != nil:
            let end = endOfToken(before: key)
            let hint = "every module ends with `;`, and \(shown(key)) begins the next module"
            diagnoses.error("missing `;` after the module", at: SourceRange(end, end), hint: hint)
            pendingClass = key
            return .endOfModule
        case .word, .string, .equals, .other, .markedWord, .openString, .openComment:
            diagnoses.error("missing `=` after the option key \(shown(key))", at: gap, hint: "an option is KEY=VALUE")
            return skipModule()
        }
    }

    /// Returns the error for a text without `=` that touches the value before it, as in `a=b"c"`.
    private func mistakeBefore(
        _ key: LoginConfToken,
        isFirst: Bool
    ) -> (text: String, range: SourceRange, hint: String?)? {
        guard !isFirst, Int(key.start) > 0, endOfToken(before: key) == key.start else { return nil }
        return (
            "two option values in a row", key.range,
            "a value is one word or one string: put all of it in double quotes"
        )
    }

    /// Returns the end of the previous token, found by going back over white space.
    private func endOfToken(before token: LoginConfToken) -> UInt32 {
        var end = Int(token.start)
        while end > 0, ByteClass.of(text.bytes[end - 1]) & ByteClass.space != 0 { end -= 1 }
        return UInt32(end)
    }

    /// Handles a token that is not a value, after `=`.
    @inline(never)
    mutating func recoverValue(of key: LoginConfToken, in block: Block?) -> Step {
        while true {
            switch token.kind {
            case .word, .string:
                advance()
                return .goOn
            case .other, .equals:
                _ = mendOther(as: .value)
            case .openBrace:
                let before = token.start
                _ = mendOther(as: .value)
                if token.start == before, token.length == 1 { return skipModule() }
            case .semicolon, .closeBrace:
                let hint = "write \(Displayed.text(string(of: key)))=\"\" if an empty value is meant"
                diagnoses.error("the option \(shown(key)) has no value", at: gap, hint: hint)
                return token.kind == .closeBrace ? .endOfModule : .goOn
            case .endOfFile, .markedWord, .openString, .openComment:
                guard let block else { return .endOfBlock }
                return reportOpenBlock(block, at: gap)
            }
        }
    }

    @inline(never)
    mutating func warnOfDuplicate(_ option: ModuleOption, earlier: ModuleOption) {
        if diagnoses.dropsWarnings { return }
        let hint = "the last value is used; the earlier one is at \(text.place(of: earlier.keyRange))"
        let message = "the option \(Displayed.word(option.key)) is set twice in this module"
        diagnoses.warning(message, at: option.keyRange, hint: hint)
    }
}
