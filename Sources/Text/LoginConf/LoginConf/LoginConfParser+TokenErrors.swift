// SPDX-License-Identifier: Apache-2.0

// Errors in a single token, and how the parser continues after an error.

extension LoginConfParser {
    /// The role of a text in the grammar, as messages name it.
    enum TextRole: String {
        case name = "context name"
        case className = "class name"
        case flag = "control flag"
        case key = "option key"
        case value = "option value"
    }

    /// True if there is no white space between the current token and a word or string before it.
    var touchesPrevious: Bool { previous.isText && previous.end == token.start }

    /// The empty range after the previous token, at which a missing token is reported.
    var rangeAfterPrevious: SourceRange { SourceRange(previous.end, previous.end) }

    func shown(_ token: LoginConfToken) -> String {
        text.isConfidential(token.range) ? HiddenWords.replacement : DiagnosticText.word(string(of: token))
    }

    func peek() -> LoginConfToken {
        var ahead = scanner
        return ahead.next()
    }

    // MARK: Tokens that the JDK misreads

    /// Reports a token that the scanner has marked as faulty, and replaces it by a valid token.
    @inline(never)
    mutating func replaceFaultyToken() {
        switch token.kind {
        case .wordWithByteOrderMark:
            var start = Int(token.start)
            while start < token.end, !text.hasByteOrderMark(at: start) { start += 1 }
            reportByteOrderMark(at: SourceRange(UInt32(start), UInt32(start + 3)))
            token.kind = .word
        case .unterminatedComment:
            let hint = "close it with `*/`"
            diagnostics.error("this comment is not closed", at: SourceRange(token.start, token.start + 2), hint: hint)
            // The comment takes the rest of the file. Without this, the tokens in it would be reported as missing.
            diagnostics.isMuted = true
            token.kind = .endOfFile
        case .unterminatedString:
            replaceUnterminatedString()
        default: break
        }
    }

    mutating func reportByteOrderMark(at range: SourceRange) {
        let hint = "save the file as UTF-8 without a byte order mark"
        diagnostics.error("a byte order mark (U+FEFF)", at: range, hint: hint)
    }

    private mutating func replaceUnterminatedString() {
        let end = Int(token.end)
        token.kind = .string
        token.content = .replacement
        if let close = closingQuoteOnNextLine(after: end) {
            let hint = "a string must end on its line; write \\n for a line break"
            diagnostics.error("this string is not closed on its line", at: token.range, hint: hint)
            token.end = UInt32(close + 1)
            scanner.position = close + 1
            return
        }
        diagnostics.error("this string is not closed", at: token.range, hint: "close it with `\"`")
        // A `;` or `};` at the end of the line is probably not a part of the string.
        var tail = end
        while tail > Int(token.start) + 1, Self.endsStatement(text.bytes[tail - 1]) { tail -= 1 }
        token.end = UInt32(tail)
        scanner.position = Int(token.end)
        if end == text.bytes.count, tail == end { diagnostics.isMuted = true }
    }

    private static func endsStatement(_ byte: UInt8) -> Bool {
        byte == .semicolon || byte == .closeBrace || ByteClass.of(byte) & ByteClass.space != 0
    }

    /// Returns the offset of the only quote on the line after an unclosed string; nil if it has no quote or several.
    ///
    /// If that line has exactly one quote, the string probably continues there and ends at the quote.
    private func closingQuoteOnNextLine(after end: Int) -> Int? {
        let bytes = text.bytes
        var index = end
        if index < bytes.count { index += 1 }
        if index < bytes.count, bytes[index - 1] == .carriageReturn, bytes[index] == .lineFeed { index += 1 }
        let line = bytes[index...].prefix { !$0.isLineEnd }
        let quote = line.firstIndex(of: .quote)
        return quote == line.lastIndex(of: .quote) ? quote : nil
    }

    // MARK: Characters that need quotes

    /// Reports a text that begins with the current token and needs quotes, and replaces it by a word or a string; returns
    /// false if the text was a comment and was skipped.
    @inline(never)
    mutating func replaceInvalidText(as role: TextRole) -> Bool {
        let byte = text.bytes[min(Int(token.start), text.bytes.count - 1)]
        let isAlone = nextByte.map { ByteClass.of($0) & ByteClass.space != 0 } ?? true
        switch byte {
        case .hash where role != .value || isAlone:
            let place =
                switch dialect {
                case .file: "here"
                case .inlineBlock: "in a login block"
                }
            let hint = "comments are `// ...` and `/* ... */`, as in login.conf"
            diagnostics.error("`#` does not begin a comment \(place)", at: token.range, hint: hint)
            skipLine()
            return false
        case .slash where role != .value || isAlone:
            let hint = "write `//` for a comment; a text with `/` in it needs double quotes"
            diagnostics.error("a lone `/`", at: token.range, hint: hint)
            skipLine()
            return false
        case .apostrophe:
            guard let close = closingApostrophe() else { break }
            let range = SourceRange(token.start, UInt32(close + 1))
            let content = text.string(in: SourceRange(token.start + 1, UInt32(close)))
            let hint = "write \(quoted(content))"
            diagnostics.error("single quotes around the \(role.rawValue)", at: range, hint: hint)
            replaceToken(with: range, kind: .string)
            return true
        default: break
        }
        let range = SourceRange(token.start, UInt32(endOfUnquotedText(role)))
        let run = text.string(in: range)
        if role == .flag {
            diagnostics.error("\(DiagnosticText.word(run)) is not a control flag", at: range, hint: Self.flagsHint)
        } else {
            let message = "an unquoted \(role.rawValue) cannot begin with \(shownCharacter)"
            diagnostics.error(message, at: range, hint: "write \(quoted(run))")
        }
        replaceToken(with: range, kind: .word)
        return true
    }

    /// Reports the current token as an invalid part of the word before it, and skips it.
    @inline(never)
    mutating func skipInvalidSuffix(of role: TextRole) {
        let end = UInt32(endOfUnquotedText(role))
        let whole = string(of: previous) + text.string(in: SourceRange(token.start, end))
        let range = SourceRange(previous.start, end)
        let message = "\(shownCharacter) is not allowed in an unquoted \(role.rawValue)"
        diagnostics.error(message, at: range, hint: "write \(quoted(whole))")
        replaceToken(with: range, kind: .word)
        repeat {
            skipToken()
        } while touchesPrevious && (token.isText || token.kind == .invalidCharacter || token.kind == .equals)
    }

    private var shownCharacter: String { DiagnosticText.word(text.string(in: token.range)) }

    private var nextByte: UInt8? { Int(token.end) < text.bytes.count ? text.bytes[Int(token.end)] : nil }

    private func quoted(_ content: String) -> String {
        content.unicodeScalars.count <= 80 ? LoginConfEscapes.quoted(content) : "it in double quotes"
    }

    private mutating func replaceToken(with range: SourceRange, kind: LoginConfToken.Kind) {
        token = LoginConfToken(kind: kind, content: .replacement, start: range.start, end: range.end)
        scanner.position = Int(range.end)
    }

    private func closingApostrophe() -> Int? {
        text.bytes[Int(token.end)...].prefix { !$0.isLineEnd }.firstIndex(of: .apostrophe)
    }

    /// Returns the end of an unquoted text that begins with the current token.
    private func endOfUnquotedText(_ role: TextRole) -> Int {
        let bytes = text.bytes
        var index = Int(token.start)
        scan: while index < bytes.count {
            switch bytes[index] {
            case .semicolon, .quote, .closeBrace: break scan
            case .equals where role == .key || role == .name: break scan
            case .openBrace:
                guard role == .value, let close = matchingBrace(of: index) else { break scan }
                index = close
            case let byte where ByteClass.of(byte) & ByteClass.space != 0: break scan
            default: break
            }
            index += 1
        }
        return max(index, Int(token.end))
    }

    private func matchingBrace(of open: Int) -> Int? {
        var index = open + 1
        while index < text.bytes.count {
            switch text.bytes[index] {
            case .closeBrace: return index
            case .semicolon, .quote, .openBrace: return nil
            case let byte where ByteClass.of(byte) & ByteClass.space != 0: return nil
            default: index += 1
            }
        }
        return nil
    }

    // MARK: Skipping

    private mutating func skipLine() {
        // The previous token stays the token before the comment.
        let before = previous
        scanner.position = text.bytes[Int(token.start)...].firstIndex(where: \.isLineEnd) ?? text.bytes.count
        advance()
        previous = before
    }

    /// Skips tokens without diagnostics up to a `{`, `}` or `;`.
    mutating func skipToBraceOrSemicolon() {
        while ![.endOfFile, .openBrace, .closeBrace, .semicolon].contains(token.kind) { skipToken() }
    }

    /// Skips the rest of a module.
    mutating func skipModule() -> Position {
        skipToBraceOrSemicolon()
        switch token.kind {
        case .semicolon:
            advance()
            return .endOfModule
        case .openBrace:
            if case .file = dialect, previous.isText {
                pendingName = previous
                return .endOfBlock
            }
            skipBlock()
            return .endOfModule
        default:
            return token.kind == .endOfFile ? .endOfBlock : .endOfModule
        }
    }

    /// Skips a block from its `{` to its `}`, with inner blocks and the `;` after it.
    mutating func skipBlock() {
        var depth = 0
        repeat {
            if token.kind == .openBrace { depth += 1 }
            if token.kind == .closeBrace { depth -= 1 }
            skipToken()
        } while depth > 0 && token.kind != .endOfFile
        if token.kind == .semicolon { advance() }
    }

    /// Takes a token without diagnostics.
    private mutating func skipToken() {
        let wasMuted = diagnostics.isMuted
        diagnostics.isMuted = true
        advance()
        diagnostics.isMuted = wasMuted
    }
}
