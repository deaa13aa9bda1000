// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

/// An error in the grammar of login.conf.
struct SyntaxError: Error {
    let message: String
    let range: SourceRange
    let hint: String?
    /// True if the context has no `}`: the next context begins at the current token.
    let endsContext: Bool

    init(_ message: String, at range: SourceRange, hint: String? = nil, endsContext: Bool = false) {
        self.message = message
        self.range = range
        self.hint = hint
        self.endsContext = endsContext
    }
}

// The errors about a token that stands where the grammar needs another one.

extension Parser {
    /// The role of a text in the grammar, as messages name it.
    enum TextRole: String {
        case name = "context name"
        case className = "class name"
        case flag = "control flag"
        case key = "option key"
        case value = "option value"

        var hint: String {
            switch self {
            case .name: "a login context is NAME { MODULES };"
            case .className: "a module is CLASS FLAG, its options KEY=VALUE and one `;`"
            case .flag: "the flags are \(ControlFlag.allCases.map(\.rawValue).joined(separator: ", "))"
            case .key, .value: "an option is KEY=VALUE"
            }
        }
    }

    mutating func report(_ error: SyntaxError) { diagnostics.error(error.message, at: error.range, hint: error.hint) }

    /// Returns an error about the current token, which is not the text that is needed; `key` is the option of a value.
    mutating func unexpected(insteadOf role: TextRole, of key: String? = nil, in context: Context? = nil) -> SyntaxError
    {
        switch token.kind {
        case .endOfFile:
            if let context { return unclosed(context, at: rangeAfterPrevious) }
        case .semicolon where role == .className && peek().kind == .endOfFile:
            advance()
            if let context { return unclosed(context, at: SourceRange(previous.start, previous.start)) }
        case .semicolon, .openBrace, .closeBrace, .equals:
            guard role == .value else {
                let sign = text.string(in: token.range)
                return SyntaxError("unexpected `\(sign)`", at: token.range, hint: role.hint)
            }
        default: break
        }
        return unquoted(role, of: key)
    }

    func missingBrace(after name: String) -> SyntaxError {
        if token.kind == .invalidCharacter, touchesPrevious { return unquoted(.name) }
        if name == "include" {
            let hint = "name each file in a `login-config` statement of realms.conf"
            return SyntaxError("login.conf has no `include`", at: previous.range, hint: hint)
        }
        let shown = quoted(name) == nil ? "NAME" : DiagnosticText.text(name)
        let hint = "write `\(shown) {`; a name with a space needs double quotes"
        return SyntaxError("missing `{` after \(named("the context name", name))", at: rangeAfterPrevious, hint: hint)
    }

    private func unclosed(_ context: Context, at range: SourceRange) -> SyntaxError {
        let hint =
            "the block begins at \(text.place(of: context.open)); close it with `\(expansion == nil ? "}" : "};")`"
        let message = "the block of \(quotedName(of: context) ?? "the context") is not closed"
        return SyntaxError(message, at: range, hint: hint, endsContext: true)
    }

    /// Returns an error about a context without a `}`, and goes back to the token that begins the next context or statement.
    private mutating func unclosed(_ context: Context, before next: Token) -> SyntaxError {
        token = next
        scanner.position = next.end
        return unclosed(context, at: SourceRange(next.start, next.start))
    }

    // MARK: Modules

    mutating func unexpectedInsteadOfFlag(of classToken: Token, in context: Context) -> SyntaxError {
        let className = string(of: classToken)
        let next = peek()
        let isUnknownFlag = token.isText && next.kind != .equals && controlFlag(of: next) == nil
        switch token.kind {
        case .equals:
            let hint = "options are separated by white space, and follow the class and the flag; a `;` ends the module"
            return SyntaxError("\(named("the option", className)) is not in a module", at: classToken.range, hint: hint)
        case .openBrace:
            return unclosed(context, before: classToken)
        case _ where token.isText && next.kind == .openBrace:
            // The next statement of realms.conf begins here, such as `realm NAME {`.
            return unclosed(context, before: classToken)
        case _ where isUnknownFlag:
            let word = string(of: token)
            if ["include", "substack", "binding"].contains(word) {
                let hint = "`\(word)` is a word of PAM, not of JAAS; \(TextRole.flag.hint)"
                return SyntaxError("`\(word)` is not a control flag", at: token.range, hint: hint)
            }
            let meant = NearestName.suggest(word, among: ControlFlag.allCases.map(\.rawValue))
            let shown = meant != nil || text.names.mayQuote(word) ? DiagnosticText.word(word) : "this word"
            let hint = meant.map { "did you mean `\($0)`?" } ?? TextRole.flag.hint
            return SyntaxError("\(shown) is not a control flag", at: token.range, hint: hint)
        case .endOfFile:
            return unclosed(context, at: rangeAfterPrevious)
        case .invalidCharacter:
            return unquoted(touchesPrevious ? .className : .flag)
        default:
            let message = "the control flag of \(quoted(className) ?? "the module") is missing"
            return SyntaxError(message, at: rangeAfterPrevious, hint: TextRole.flag.hint)
        }
    }

    // MARK: Options

    mutating func unexpectedInsteadOfOption(after last: ModuleOption?, in context: Context) -> SyntaxError {
        switch token.kind {
        case .closeBrace:
            let hint = "every module ends with `;`"
            return SyntaxError("missing `;` after the module", at: rangeAfterPrevious, hint: hint)
        case .invalidCharacter where isSeparatingComma:
            return SyntaxError("unexpected `,`", at: token.range, hint: "options are separated by white space")
        default:
            if touchesPrevious, let last { return unexpected(insteadOf: .value, of: last.key, in: context) }
            return unexpected(insteadOf: touchesPrevious ? .flag : .key, in: context)
        }
    }

    private var isSeparatingComma: Bool {
        let isBeforeSpace = token.end == text.bytes.count || text.bytes[token.end].isLoginConfWhitespace
        return text.bytes[token.start] == .comma && (!touchesPrevious || isBeforeSpace)
    }

    /// Returns an error about a key without a `=`; `before` is the place before the key.
    mutating func missingEquals(after key: Token, at before: SourceRange, in context: Context) -> SyntaxError {
        switch token.kind {
        case .endOfFile:
            return unclosed(context, at: rangeAfterPrevious)
        case _ where before.end == key.start:
            let hint = "put white space between them, or write one quoted text"
            return SyntaxError("a quoted text touches another word", at: key.range, hint: hint)
        case .semicolon, .closeBrace:
            return noValue(of: key)
        case .openBrace:
            return unclosed(context, before: key)
        case .invalidCharacter where touchesPrevious:
            return unquoted(.key)
        default:
            let name = string(of: key)
            guard controlFlag(of: token) == nil else {
                let next = quoted(name).map { ", and \($0) begins the next module" } ?? ""
                return SyntaxError(
                    "missing `;` after the module",
                    at: before,
                    hint: "every module ends with `;`\(next)"
                )
            }
            let message = "missing `=` after \(named("the option key", name))"
            return SyntaxError(message, at: rangeAfterPrevious, hint: TextRole.key.hint)
        }
    }

    func noValue(of key: Token) -> SyntaxError {
        let name = string(of: key)
        let hint = "write \(quoted(name) == nil ? "KEY" : DiagnosticText.text(name))=\"true\", for example"
        return SyntaxError("\(named("the option", name)) has no value", at: key.range, hint: hint)
    }

    /// Warns about a value in the curly quotes of a word processor; for the JDK they are a part of the value.
    mutating func warnOfCurlyQuote(_ option: ModuleOption) {
        guard let first = option.value.unicodeScalars.first, CurlyQuotes.opening.contains(first) else { return }
        let message = "the quotation mark \(first) is a part of the value"
        diagnostics.warning(message, at: option.valueRange, hint: "write the value in \" if it is not meant")
    }

    mutating func warnOfDuplicate(_ option: ModuleOption, earlier: ModuleOption) {
        if diagnostics.dropsWarnings { return }
        let hint = "the last value is used; the earlier one is at \(text.place(of: earlier.keyRange))"
        let shown = quoted(option.key).map { "the option " + $0 } ?? "an option"
        diagnostics.warning("\(shown) is set twice in this module", at: option.keyRange, hint: hint)
    }

    // MARK: Texts that need quotes

    /// Returns an error about a text with the current character, which needs quotes: a name, or the value of the option `key`.
    private func unquoted(_ role: TextRole, of key: String? = nil) -> SyntaxError {
        let end = endOfUnquotedText(role)
        let character = DiagnosticText.word(text.string(in: token.range))
        let rest = text.string(in: SourceRange(token.start, end))
        if touchesPrevious {
            let message = "\(character) is not allowed in an unquoted \(role.rawValue)"
            let hint = correction(string(of: previous) + rest, of: key)
            return SyntaxError(message, at: SourceRange(previous.start, end), hint: hint)
        }
        let line = text.bytes[token.end...].prefix { !$0.isLineEnd }
        if text.bytes[token.start] == .apostrophe, let close = line.firstIndex(of: .apostrophe) {
            let hint = correction(text.string(in: SourceRange(token.end, close)), of: key)
            let place = SourceRange(token.start, close + 1)
            return SyntaxError("single quotes around the \(role.rawValue)", at: place, hint: hint)
        }
        let range = SourceRange(token.start, end)
        if role == .flag {
            return SyntaxError("\(quoted(rest) ?? "this word") is not a control flag", at: range, hint: role.hint)
        }
        let message = "an unquoted \(role.rawValue) cannot begin with \(character)"
        return SyntaxError(message, at: range, hint: correction(rest, of: key))
    }

    private func correction(_ content: String, of key: String?) -> String {
        let mayQuote = key.map(text.names.isHarmless) ?? text.names.mayQuote(content)
        // A blank may be missing before the next option.
        let keys = content.utf8.split(separator: .equals, omittingEmptySubsequences: false).dropLast().map { text in
            String(decoding: text.reversed().prefix { $0.isNamePart }.reversed(), as: UTF8.self)
        }
        guard mayQuote, content.unicodeScalars.count <= 80, !keys.contains(where: text.names.isSecret)
        else { return "write it in double quotes" }
        return "write \(LoginConfEscapes.quoted(content))"
    }

    /// Returns the end of an unquoted text that begins with the current token; a value may have braces.
    private func endOfUnquotedText(_ role: TextRole) -> Int {
        var depth = 0
        let end = text.bytes[token.start...].firstIndex { byte in
            if role == .value, byte == .openBrace || byte == .closeBrace && depth > 0 {
                depth += byte == .openBrace ? 1 : -1
                return false
            }
            return byte.isLoginConfWhitespace || byte.isDelimiter || byte == .quote || byte == .equals && role != .value
        }
        return max(end ?? text.bytes.count, token.end)
    }
}
