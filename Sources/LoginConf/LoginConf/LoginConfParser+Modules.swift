// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit

// Errors in the class and the flag of a module.

extension LoginConfParser {
    /// Words that PAM has where JAAS has its flags.
    private static let wordsOfPAM: Set<String> = ["include", "substack", "binding"]

    /// Handles a token that is neither a class name nor `}`.
    @inline(never)
    mutating func recoverModule(of block: Block, isFirst: Bool) -> Step {
        switch token.kind {
        case .endOfFile:
            return reportOpenBlock(block, at: gap)
        case .semicolon:
            if endsBlock {
                defer { advance() }
                return reportOpenBlock(block, at: SourceRange(token.start, token.start))
            }
            let hint = isFirst ? "a module begins with its class name" : "one `;` ends a module"
            diagnoses.error("unexpected `;`", at: token.range, hint: hint)
            while token.kind == .semicolon { advance() }
        case .openBrace:
            diagnoses.error("unexpected `{`", at: token.range, hint: "a block holds modules only")
            skipBlock()
        case .equals:
            diagnoses.error("unexpected `=`", at: token.range, hint: "a module begins with its class name")
            return skipModule()
        case .other:
            _ = mendOther(as: .className)
        case .word, .string, .closeBrace, .markedWord, .openString, .openComment:
            break
        }
        return .goOn
    }

    /// True if the current `;` probably follows a missing `}`: the end of the file or the next context comes after it.
    private var endsBlock: Bool {
        var ahead = scanner
        let next = ahead.next()
        return next.kind == .endOfFile || next.isText && ahead.next().kind == .openBrace
    }

    /// Handles a token that is not a flag, after a class name.
    @inline(never)
    mutating func recoverFlag(
        _ flag: inout ControlFlag,
        after className: LoginConfToken,
        of block: Block,
        isFirst: Bool
    ) -> Step {
        while token.kind == .other {
            if isGlued {
                mendGlued(.className)
            } else if mendOther(as: .flag) {
                return skipModule()
            }
        }
        if let known = controlFlag(of: token) {
            flag = known
            advance()
            return .goOn
        }
        switch token.kind {
        case .equals:
            return recoverStrayOption(className, isFirst: isFirst)
        case .openBrace:
            if !isFirst { return abandon(block, before: className) }
            diagnoses.error("unexpected `{`", at: token.range, hint: "a block holds modules only")
            skipBlock()
            return .endOfModule
        case .endOfFile:
            return reportOpenBlock(block, at: gap)
        case .word, .string:
            return recoverUnknownFlag(after: className, of: block, isFirst: isFirst)
        case .semicolon, .closeBrace, .other, .markedWord, .openString, .openComment:
            reportMissingFlag(of: className, at: gap)
            return token.kind == .closeBrace ? .endOfModule : .goOn
        }
    }

    private mutating func recoverUnknownFlag(
        after className: LoginConfToken,
        of block: Block,
        isFirst: Bool
    ) -> Step {
        // An unclosed string has been reported already.
        guard token.content != .mended else { return skipModule() }
        let word = string(of: token)
        let next = peek()
        if next.kind == .equals {
            reportMissingFlag(of: className, at: gap)
            return .goOn
        }
        if case .inlineBlock = dialect, next.kind == .openBrace, !isFirst {
            // The next statement of realms.conf, as `realm NAME {`.
            return abandon(block, before: className)
        }
        if controlFlag(of: next) != nil, hasLineEnd(before: token) {
            reportMissingFlag(of: className, at: gap)
            pendingClass = takeText()
            return .endOfModule
        }
        let message = "\(Displayed.word(word)) is not a control flag"
        let flags = ControlFlag.allCases.map(\.rawValue)
        if Self.wordsOfPAM.contains(word) {
            let hint = "`\(word)` is a word of PAM, not of JAAS; \(Self.flagsHint)"
            diagnoses.error(message, at: token.range, hint: hint)
        } else if let meant = flags.first(where: { $0.uppercased() == word.uppercased() }) {
            diagnoses.error(message, at: token.range, hint: "write `\(meant)` in ASCII letters")
            advance()
            return .goOn
        } else if let meant = NearestName.suggest(word, among: flags) {
            diagnoses.error(message, at: token.range, hint: "did you mean `\(meant)`?")
            advance()
            return .goOn
        } else {
            diagnoses.error(message, at: token.range, hint: Self.flagsHint)
        }
        return skipModule()
    }

    /// Handles an option in the place of a module: usually a `;` has ended the module too early.
    private mutating func recoverStrayOption(_ key: LoginConfToken, isFirst: Bool) -> Step {
        guard !isFirst else {
            let hint = "a module begins with its class name and its control flag"
            diagnoses.error("the option \(shown(key)) belongs to no module", at: key.range, hint: hint)
            return skipModule()
        }
        if !isContinuingModule {
            let hint = "remove the `;` before it: a `;` ends the module; options are separated by white space"
            diagnoses.error("the option \(shown(key)) comes after the end of its module", at: key.range, hint: hint)
            isContinuingModule = true
        }
        advance()
        guard takeText() != nil else { return recoverValue(of: key, in: nil) }
        return .goOn
    }

    private mutating func reportMissingFlag(of className: LoginConfToken, at range: SourceRange) {
        diagnoses.error("the control flag of \(shown(className)) is missing", at: range, hint: Self.flagsHint)
    }

    static let flagsHint = "the flags are required, requisite, sufficient, optional"

    private func hasLineEnd(before token: LoginConfToken) -> Bool {
        text.bytes[Int(previous.end)..<Int(token.start)].contains(where: \.isLineEnd)
    }

    @inline(never)
    mutating func reportEmptyClass(_ className: LoginConfToken) {
        diagnoses.error("the class name is empty", at: className.range)
    }
}
