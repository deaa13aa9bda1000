// SPDX-License-Identifier: Apache-2.0

// Errors in a single token.

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

    /// True if white space or the end of the file follows the current token.
    var isBeforeSpace: Bool {
        Int(token.end) >= text.bytes.count || ByteClass.isSpace(text.bytes[Int(token.end)])
    }

    // MARK: Tokens that the JDK misreads

    /// Reports a token that the scanner has marked as faulty, and replaces it by a valid token.
    @inline(never)
    mutating func replaceFaultyToken() {
        while beginsWrongComment { skipWrongComment() }
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

    /// True if the current token is a `#` or `/` that was probably meant to begin a comment, and no value.
    private var beginsWrongComment: Bool {
        guard token.kind == .invalidCharacter, !touchesPrevious, previous.kind != .equals || isBeforeSpace else {
            return false
        }
        let byte = text.bytes[Int(token.start)]
        return byte == .hash || byte == .slash
    }

    private mutating func skipWrongComment() {
        if text.bytes[Int(token.start)] == .slash {
            let hint = "write `//` for a comment; a text with `/` in it needs double quotes"
            diagnostics.error("a lone `/`", at: token.range, hint: hint)
        } else {
            let place =
                switch dialect {
                case .file: "here"
                case .inlineBlock: "in a login block"
                }
            let hint = "comments are `// ...` and `/* ... */`, as in login.conf"
            diagnostics.error("`#` does not begin a comment \(place)", at: token.range, hint: hint)
        }
        scanner.position = text.bytes[Int(token.start)...].firstIndex(where: \.isLineEnd) ?? text.bytes.count
        token = scanner.next()
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
        scanner.position = tail
        if end == text.bytes.count, tail == end { diagnostics.isMuted = true }
    }

    private static func endsStatement(_ byte: UInt8) -> Bool {
        byte == .semicolon || byte == .closeBrace || ByteClass.isSpace(byte)
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

    // MARK: Texts that need quotes

    /// Returns an error about a text with the current character, which needs quotes: a name, or the value of the option `key`.
    @inline(never)
    func unquoted(_ role: TextRole, of key: String? = nil) -> SyntaxError {
        let end = UInt32(endOfUnquotedText(role))
        let character = DiagnosticText.word(text.string(in: token.range))
        let rest = text.string(in: SourceRange(token.start, end))
        if touchesPrevious {
            let message = "\(character) is not allowed in an unquoted \(role.rawValue)"
            let hint = correction(string(of: previous) + rest, of: key)
            return SyntaxError(message, at: SourceRange(previous.start, end), hint: hint)
        }
        let range = SourceRange(token.start, end)
        if text.bytes[Int(token.start)] == .apostrophe,
            let close = text.bytes[Int(token.end)...].prefix(while: { !$0.isLineEnd }).firstIndex(of: .apostrophe)
        {
            let content = text.string(in: SourceRange(token.end, UInt32(close)))
            let place = SourceRange(token.start, UInt32(close + 1))
            return SyntaxError(
                "single quotes around the \(role.rawValue)",
                at: place,
                hint: correction(content, of: key)
            )
        }
        if role == .flag {
            let word = text.names.mayQuote(rest) ? DiagnosticText.word(rest) : "this word"
            return SyntaxError("\(word) is not a control flag", at: range, hint: Self.flagsHint)
        }
        let message = "an unquoted \(role.rawValue) cannot begin with \(character)"
        return SyntaxError(message, at: range, hint: correction(rest, of: key))
    }

    private func correction(_ content: String, of key: String?) -> String {
        let mayQuote = key.map(text.names.isHarmless) ?? text.names.mayQuote(content)
        guard mayQuote, content.unicodeScalars.count <= 80 else { return "write it in double quotes" }
        return "write \(LoginConfEscapes.quoted(content))"
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
            case let byte where ByteClass.isSpace(byte): break scan
            default: break
            }
            index += 1
        }
        return max(index, Int(token.end))
    }

    private func matchingBrace(of open: Int) -> Int? {
        let end = text.bytes[(open + 1)...].firstIndex { byte in
            byte == .closeBrace || byte == .semicolon || byte == .quote || byte == .openBrace || ByteClass.isSpace(byte)
        }
        return end.flatMap { text.bytes[$0] == .closeBrace ? $0 : nil }
    }
}
