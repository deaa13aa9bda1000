// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

/// An error in the grammar of login.conf.
struct SyntaxError: Error {
    let message: String
    let range: SourceRange
    let hint: String?
    /// True if the block has no `}`: the next context begins at the current token.
    let endsBlock: Bool

    init(_ message: String, at range: SourceRange, hint: String? = nil, endsBlock: Bool = false) {
        self.message = message
        self.range = range
        self.hint = hint
        self.endsBlock = endsBlock
    }
}

// The errors about a token that stands where the grammar needs another one. None of this is inlined, so that it does not
// slow down the parsing of correct texts.

extension LoginConfParser {
    @inline(never)
    mutating func report(_ error: SyntaxError) {
        diagnostics.error(error.message, at: error.range, hint: error.hint)
    }

    /// Returns a name for a message; nil if it may not be quoted.
    private func quoted(_ name: LoginConfToken) -> String? {
        let word = string(of: name)
        return text.names.mayQuote(word) ? DiagnosticText.word(word) : nil
    }

    /// Returns a noun with the name that it stands for, if the name may be quoted.
    private func named(_ noun: String, _ name: LoginConfToken) -> String {
        [noun, quoted(name)].compactMap(\.self).joined(separator: " ")
    }

    /// Returns the name of a context for a message; nil if it may not be quoted.
    ///
    /// The name of a `login` block is a value of a harmless statement of realms.conf.
    private func quoted(_ block: Block) -> String? {
        switch dialect {
        case .file: quoted(block.name)
        case .inlineBlock: DiagnosticText.word(string(of: block.name))
        }
    }

    /// The empty range after the previous token, at which a missing token is reported.
    private var rangeAfterPrevious: SourceRange { SourceRange(previous.end, previous.end) }

    private func peek() -> LoginConfToken {
        var ahead = scanner
        return ahead.next()
    }

    // MARK: Contexts

    @inline(never)
    func unexpectedInsteadOfContext() -> SyntaxError {
        switch token.kind {
        case .semicolon:
            let isAfterBlock = previous.kind == .semicolon || previous.kind == .closeBrace
            let hint = isAfterBlock ? "one `;` after `}` is enough" : "a login context begins with its name"
            return SyntaxError("unexpected `;`", at: token.range, hint: hint)
        case .closeBrace:
            return SyntaxError("unexpected `}`", at: token.range, hint: "no block is open here")
        case .openBrace:
            let message = "a login context needs a name before `{`"
            return SyntaxError(message, at: token.range, hint: "write `NAME { ... };`")
        case .equals:
            return SyntaxError("unexpected `=`", at: token.range, hint: "a login context begins with its name")
        default:
            return unquoted(.name)
        }
    }

    @inline(never)
    func missingBrace(after name: LoginConfToken) -> SyntaxError {
        if token.kind == .invalidCharacter, touchesPrevious { return unquoted(.name) }
        if name.kind == .word, string(of: name) == "include" {
            let hint = "name each file in a `login-config` statement of realms.conf"
            return SyntaxError("login.conf has no `include`", at: name.range, hint: hint)
        }
        if token.isText, peek().kind == .openBrace {
            let whole = LoginConfEscapes.quoted(string(of: name) + " " + string(of: token))
            let hint = quoted(name) == nil || quoted(token) == nil ? "quote the whole name" : "write \(whole)"
            let both = SourceRange(name.start, token.end)
            return SyntaxError("a context name with a space needs double quotes", at: both, hint: hint)
        }
        let hint = "write `\(quoted(name) == nil ? "NAME" : DiagnosticText.text(string(of: name))) {`"
        return SyntaxError("missing `{` after \(named("the context name", name))", at: rangeAfterPrevious, hint: hint)
    }

    @inline(never)
    func missingSemicolonAfterBlock() -> SyntaxError {
        SyntaxError("missing `;` after `}`", at: rangeAfterPrevious, hint: "write `};`")
    }

    @inline(never)
    func emptyBlock(_ block: Block) -> SyntaxError {
        let hint = "the JDK ignores an empty context and uses `other`; remove it or add a module"
        let context = ["the context", quoted(block)].compactMap(\.self).joined(separator: " ")
        return SyntaxError("\(context) has no modules", at: block.name.range, hint: hint)
    }

    private func unclosed(_ block: Block, at range: SourceRange) -> SyntaxError {
        let close =
            switch dialect {
            case .file: "};"
            case .inlineBlock: "}"
            }
        let hint = "the block begins at \(text.place(of: block.open.range)); close it with `\(close)`"
        return SyntaxError(
            "the block of \(quoted(block) ?? "the context") is not closed",
            at: range,
            hint: hint,
            endsBlock: true
        )
    }

    /// Returns an error about a block without a `}`, and goes back to the token that begins the next context or statement.
    private mutating func unclosed(_ block: Block, before next: LoginConfToken) -> SyntaxError {
        token = next
        scanner.position = Int(next.end)
        return unclosed(block, at: SourceRange(next.start, next.start))
    }

    // MARK: Modules

    static let flagsHint = "the flags are required, requisite, sufficient, optional"

    /// Words that only PAM allows in the place of a control flag.
    private static let pamKeywords: Set<String> = ["include", "substack", "binding"]

    @inline(never)
    mutating func unexpectedInsteadOfModule(of block: Block, isFirst: Bool) -> SyntaxError {
        switch token.kind {
        case .endOfFile:
            return unclosed(block, at: rangeAfterPrevious)
        case .semicolon where peek().kind == .endOfFile:
            advance()
            return unclosed(block, at: SourceRange(previous.start, previous.start))
        case .semicolon:
            let hint = isFirst ? "a module begins with its class name" : "one `;` ends a module"
            return SyntaxError("unexpected `;`", at: token.range, hint: hint)
        case .openBrace:
            return SyntaxError("unexpected `{`", at: token.range, hint: "a block holds modules only")
        case .equals:
            return SyntaxError("unexpected `=`", at: token.range, hint: "a module begins with its class name")
        default:
            return unquoted(.className)
        }
    }

    @inline(never)
    mutating func unexpectedInsteadOfFlag(
        of className: LoginConfToken,
        in block: Block,
        isFirst: Bool
    ) -> SyntaxError {
        switch token.kind {
        case .equals:
            return strayOption(className, isFirst: isFirst)
        case .openBrace where !isFirst:
            return unclosed(block, before: className)
        case .openBrace:
            return SyntaxError("unexpected `{`", at: token.range, hint: "a block holds modules only")
        case .endOfFile:
            return unclosed(block, at: rangeAfterPrevious)
        case .word, .string:
            return unknownFlag(of: className, in: block, isFirst: isFirst)
        case .invalidCharacter:
            return unquoted(touchesPrevious ? .className : .flag)
        default:
            return missingFlag(of: className)
        }
    }

    private mutating func unknownFlag(
        of className: LoginConfToken,
        in block: Block,
        isFirst: Bool
    ) -> SyntaxError {
        let next = peek()
        if case .inlineBlock = dialect, next.kind == .openBrace, !isFirst {
            // The next statement of realms.conf begins here, such as `realm NAME {`.
            return unclosed(block, before: className)
        }
        let isOnNextLine = text.bytes[Int(previous.end)..<Int(token.start)].contains(where: \.isLineEnd)
        if next.kind == .equals || controlFlag(of: next) != nil && isOnNextLine { return missingFlag(of: className) }
        let word = string(of: token)
        let flags = ControlFlag.allCases.map(\.rawValue)
        var hint = Self.flagsHint
        var isNear = true
        if Self.pamKeywords.contains(word) {
            hint = "`\(word)` is a word of PAM, not of JAAS; \(Self.flagsHint)"
        } else if let meant = flags.first(where: { $0.uppercased() == word.uppercased() }) {
            hint = "write `\(meant)` in ASCII letters"
        } else if let meant = NearestName.suggest(word, among: flags) {
            hint = "did you mean `\(meant)`?"
        } else {
            isNear = text.names.mayQuote(word)
        }
        let shown = isNear ? DiagnosticText.word(word) : "this word"
        return SyntaxError("\(shown) is not a control flag", at: token.range, hint: hint)
    }

    private func missingFlag(of className: LoginConfToken) -> SyntaxError {
        let message = "the control flag of \(quoted(className) ?? "the module") is missing"
        return SyntaxError(message, at: rangeAfterPrevious, hint: Self.flagsHint)
    }

    /// Returns an error about an option where a module should begin; usually there is a wrong `;` before it.
    ///
    /// Further options up to the next module have the same cause.
    private mutating func strayOption(_ key: LoginConfToken, isFirst: Bool) -> SyntaxError {
        let error =
            isFirst
            ? SyntaxError(
                "\(named("the option", key)) is not in a module",
                at: key.range,
                hint: "a module begins with its class name and its control flag"
            )
            : SyntaxError(
                "\(named("the option", key)) comes after the end of its module",
                at: key.range,
                hint: "remove the `;` before it: a `;` ends the module; options are separated by white space"
            )
        silently { parser in
            while parser.token.kind == .equals {
                parser.skipToEndOfModule()
                guard parser.token.kind == .semicolon, parser.peek().isText else { return }
                var ahead = parser.scanner
                _ = ahead.next()
                guard ahead.next().kind == .equals else { return }
                parser.advance()
                parser.advance()
            }
        }
        return error
    }

    // MARK: Options

    @inline(never)
    func unexpectedInsteadOfOption(of block: Block) -> SyntaxError {
        let isAfterValue = touchesPrevious && !options.isEmpty
        switch token.kind {
        case .endOfFile:
            return unclosed(block, at: rangeAfterPrevious)
        case .closeBrace:
            let hint = "every module ends with `;`"
            return SyntaxError("missing `;` after the module", at: rangeAfterPrevious, hint: hint)
        case .openBrace where !isAfterValue:
            return SyntaxError("unexpected `{`", at: token.range, hint: "write the text in double quotes")
        case .equals where !isAfterValue:
            return SyntaxError("unexpected `=`", at: token.range, hint: "an option is KEY=VALUE")
        case .invalidCharacter where isSeparatingComma:
            return SyntaxError("unexpected `,`", at: token.range, hint: "options are separated by white space")
        default:
            guard isAfterValue else { return unquoted(touchesPrevious ? .flag : .key) }
            return unquoted(.value, of: options.key(ofValueAt: previous.range))
        }
    }

    private func shownKey(_ key: LoginConfToken) -> String {
        quoted(key) == nil ? "KEY" : DiagnosticText.text(string(of: key))
    }

    private var isSeparatingComma: Bool {
        text.bytes[Int(token.start)] == .comma && (!touchesPrevious || isBeforeSpace)
    }

    @inline(never)
    mutating func missingEquals(after key: LoginConfToken, in block: Block) -> SyntaxError {
        var endBefore = Int(key.start)
        while endBefore > 0, ByteClass.isSpace(text.bytes[endBefore - 1]) { endBefore -= 1 }
        if touchesPrevious, token.kind == .invalidCharacter { return unquoted(.key) }
        // A text directly follows a value, such as `"c"` in `a=b"c"`.
        if !options.isEmpty, endBefore == key.start {
            let hint = "a value is one word or one string: put all of it in double quotes"
            return SyntaxError("two option values in a row", at: key.range, hint: hint)
        }
        switch token.kind {
        case .endOfFile:
            return unclosed(block, at: rangeAfterPrevious)
        case .semicolon, .closeBrace:
            let hint = "write \(shownKey(key))=\"true\", for example"
            return SyntaxError("\(named("the option", key)) has no value", at: key.range, hint: hint)
        case .openBrace:
            return unclosed(block, before: key)
        case .word where controlFlag(of: token) != nil, .string where controlFlag(of: token) != nil:
            let hint = "every module ends with `;`" + (quoted(key).map { ", and \($0) begins the next module" } ?? "")
            let place = SourceRange(UInt32(endBefore), UInt32(endBefore))
            return SyntaxError("missing `;` after the module", at: place, hint: hint)
        default:
            let message = "missing `=` after \(named("the option key", key))"
            return SyntaxError(message, at: rangeAfterPrevious, hint: "an option is KEY=VALUE")
        }
    }

    @inline(never)
    func missingValue(of key: LoginConfToken, in block: Block) -> SyntaxError {
        switch token.kind {
        case .endOfFile:
            return unclosed(block, at: rangeAfterPrevious)
        case .semicolon, .closeBrace:
            let hint = "write \(shownKey(key))=\"\" if an empty value is meant"
            return SyntaxError("\(named("the option", key)) has no value", at: rangeAfterPrevious, hint: hint)
        default:
            return unquoted(.value, of: string(of: key))
        }
    }

    /// Warns about a value in the curly quotes of a word processor; for the JDK they are a part of the value.
    @inline(never)
    mutating func warnOfCurlyQuote(_ option: ModuleOption) {
        guard let first = option.value.unicodeScalars.first, CurlyQuotes.opening.contains(first) else { return }
        let message = "the quotation mark \(first) is a part of the value"
        diagnostics.warning(message, at: option.valueRange, hint: "write the value in \" if it is not meant")
    }

    @inline(never)
    mutating func warnOfDuplicate(_ option: ModuleOption, earlier: ModuleOption) {
        if diagnostics.dropsWarnings { return }
        let hint = "the last value is used; the earlier one is at \(text.place(of: earlier.keyRange))"
        let shown = text.names.mayQuote(option.key) ? "the option \(DiagnosticText.word(option.key))" : "an option"
        diagnostics.warning("\(shown) is set twice in this module", at: option.keyRange, hint: hint)
    }
}

// How the parser goes on after an error.

extension LoginConfParser {
    /// Skips the rest of a context after an error, up to its `}` or to a name with a `{`.
    @inline(never)
    mutating func skipEntry(after error: SyntaxError) {
        silently(after: error) { parser in
            let isExtraSign = parser.token.kind == .semicolon || parser.token.kind == .closeBrace
            if isExtraSign { parser.skipSigns() }
            // In `; {` the `;` stands in the place of the name.
            guard !isExtraSign || parser.token.kind == .openBrace else { return }
            var depth = 0
            repeat {
                if parser.token.kind == .openBrace { depth += 1 }
                if parser.token.kind == .closeBrace { depth -= 1 }
                parser.advance()
                if depth == 0, parser.token.isText, parser.peek().kind == .openBrace { return }
            } while parser.token.kind != .endOfFile && (parser.previous.kind != .closeBrace || depth > 0)
            parser.skipSigns()
        }
    }

    private mutating func skipSigns() {
        while token.kind == .semicolon || token.kind == .closeBrace { advance() }
    }

    /// Skips the rest of a module after an error, with its `;`, up to a `}` or to a name with a `{`.
    @inline(never)
    mutating func skipModule(after error: SyntaxError) {
        silently(after: error) { parser in
            parser.skipToEndOfModule()
            if parser.token.kind == .semicolon { parser.advance() }
        }
    }

    private mutating func skipToEndOfModule() {
        var depth = 0
        while token.kind != .endOfFile {
            switch token.kind {
            case .semicolon where depth == 0, .closeBrace where depth == 0: return
            case .openBrace: depth += 1
            case .closeBrace: depth -= 1
            default: if depth == 0, token.isText, peek().kind == .openBrace { return }
            }
            advance()
        }
    }

    /// Skips tokens without further errors, from the end of the text with the error.
    private mutating func silently(after error: SyntaxError? = nil, _ skip: (inout LoginConfParser) -> Void) {
        let wasMuted = diagnostics.isMuted
        diagnostics.isMuted = true
        if let end = error?.range.end, end > token.end {
            scanner.position = Int(end)
            advance()
        }
        skip(&self)
        diagnostics.isMuted = wasMuted
    }
}
