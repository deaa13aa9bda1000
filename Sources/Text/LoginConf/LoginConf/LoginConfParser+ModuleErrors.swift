// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

// Errors in the class and the flag of a module.

extension LoginConfParser {
    /// Keywords of PAM that JAAS does not have; PAM allows them in the place of a control flag.
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
        case .word, .string, .closeBrace, .wordWithByteOrderMark, .unterminatedString, .unterminatedComment:
            break
        }
        return .inModule
    }

    /// True if the end of the file or the next context follows the current `;`.
    ///
    /// The `}` before this `;` is then probably missing.
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
        case .semicolon, .closeBrace, .invalidCharacter, .wordWithByteOrderMark, .unterminatedString,
            .unterminatedComment:
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
        if Self.pamKeywords.contains(word) {
            let hint = "`\(word)` is a word of PAM, not of JAAS; \(Self.flagsHint)"
            diagnostics.error(message, at: token.range, hint: hint)
        } else if let meant = flags.first(where: { $0.uppercased() == word.uppercased() }) {
            diagnostics.error(message, at: token.range, hint: "write `\(meant)` in ASCII letters")
            advance()
            return .inModule
        } else if let meant = NearestName.suggest(word, among: flags) {
            diagnostics.error(message, at: token.range, hint: "did you mean `\(meant)`?")
            advance()
            return .inModule
        } else {
            diagnostics.error(message, at: token.range, hint: Self.flagsHint)
        }
        return skipModule()
    }

    /// Handles an option where a module should begin.
    ///
    /// Usually there is a wrong `;` before the option.
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
