// SPDX-License-Identifier: Apache-2.0

// The words of realms.conf, and errors in words.

extension RealmsConfParser {
    mutating func takeWord() -> RealmsConfWord {
        let current = token
        let word: RealmsConfWord
        switch current.kind {
        case .string: word = quotedWord(current)
        case .unterminatedString: word = unterminatedWord(current)
        case .word, .openBrace, .closeBrace, .semicolon, .endOfFile:
            let read = text.string(in: current.range)
            word = withoutCurlyQuotes(RealmsConfWord(read, range: current.range, beginsLine: current.beginsLine))
            rejectInvisibleCharacters(word)
        }
        advance()
        if current.kind != .unterminatedString, isWord(token.kind), token.start == previousEnd {
            let whole = SourceRange(UInt32(current.start), UInt32(token.end))
            if token.kind == .word, text.bytes[token.start] == UInt8(ascii: ",") {
                let hint = "words are separated by blanks: remove the comma"
                diagnostics.error("a comma follows a quoted text", at: whole, hint: hint, showing: .never)
            } else {
                let hint = "put white space between them, or write one quoted text"
                diagnostics.error("a quoted text touches another word", at: whole, hint: hint, showing: .never)
            }
            // Further words without white space before them are not reported again.
            while isWord(token.kind), token.start == previousEnd { advance() }
        }
        return word
    }

    private func isWord(_ kind: RealmsConfToken.Kind) -> Bool {
        kind == .word || kind == .string || kind == .unterminatedString
    }

    private mutating func quotedWord(_ token: RealmsConfToken) -> RealmsConfWord {
        var content: [UInt8] = []
        var index = token.start + 1
        while index < token.end - 1 {
            if text.bytes[index] == .backslash {
                let escaped = text.bytes[index + 1]
                if escaped != .quote, escaped != .backslash { reportEscape(at: index) }
                index += 1
            }
            content.append(text.bytes[index])
            index += 1
        }
        let read = String(decoding: content, as: UTF8.self)
        return RealmsConfWord(read, range: token.range, isQuoted: true, beginsLine: token.beginsLine)
    }

    private mutating func reportEscape(at index: Int) {
        var end = index + 2
        while end < text.bytes.count, text.bytes[end].isContinuation { end += 1 }
        let range = SourceRange(UInt32(index), UInt32(end))
        let hint = "only `\\\"` and `\\\\` are escapes; write `\\\\` for a backslash"
        diagnostics.error("unknown escape \(DiagnosticText.word(text.string(in: range)))", at: range, hint: hint)
    }

    /// Reads a quoted word without its closing quote.
    ///
    /// A `;`, `{` or `}` at the end of the line is not a part of the word: it probably ends the statement.
    private mutating func unterminatedWord(_ token: RealmsConfToken) -> RealmsConfWord {
        let hint = "close it with `\"`; it cannot continue on the next line"
        diagnostics.error("this quoted text is not closed", at: token.range, hint: hint)
        var end = token.end
        while end > token.start + 1, Self.endsStatement(text.bytes[end - 1]) { end -= 1 }
        scanner.position = end
        self.token.end = end
        if token.end == text.bytes.count, end == token.end { diagnostics.isMuted = true }
        let read = text.string(in: SourceRange(UInt32(token.start + 1), UInt32(end)))
        return RealmsConfWord(read, range: token.range, isQuoted: true, beginsLine: token.beginsLine)
    }

    private static func endsStatement(_ byte: UInt8) -> Bool {
        byte.isBlank || byte == .semicolon || byte == .openBrace || byte == .closeBrace
    }

    private mutating func rejectInvisibleCharacters(_ word: RealmsConfWord) {
        guard word.text.utf8.contains(where: { $0 < 0x20 || $0 > 0x7E }) else { return }
        var offset = word.range.start
        for scalar in word.text.unicodeScalars {
            let end = offset + UInt32(UTF8.width(scalar))
            if scalar.isInvisible {
                let code = String(scalar.value, radix: 16, uppercase: true)
                let name = "U+" + String(repeating: "0", count: max(0, 4 - code.count)) + code
                let hint = "replace it with a space, or put the word in double quotes"
                let range = SourceRange(offset, end)
                return diagnostics.error("an invisible character (\(name)) in a word", at: range, hint: hint)
            }
            offset = end
        }
    }

    /// Returns a word without apostrophes and the curly quotes of a word processor around it, and reports them.
    ///
    /// A quotation mark within a word is a part of it.
    private mutating func withoutCurlyQuotes(_ word: RealmsConfWord) -> RealmsConfWord {
        let apostrophe: Unicode.Scalar = "'"
        // Scalars are compared, because a mark and a combining character after it are one `Character`.
        guard let first = word.text.unicodeScalars.first, first == apostrophe || CurlyQuotes.opening.contains(first)
        else { return word }
        var content = word.text.unicodeScalars.dropFirst()
        if let last = content.last, last == apostrophe || CurlyQuotes.closing.contains(last) {
            content = content.dropLast()
        }
        let hint = "replace it and the quotation mark that closes it with \""
        diagnostics.error("the quotation mark \(first) does not begin a quoted text", at: word.range, hint: hint)
        return RealmsConfWord(String(content), range: word.range, beginsLine: word.beginsLine)
    }

    // MARK: References without quotes

    /// Returns whether the current `{` is a part of `${` outside of quotes.
    func isUnquotedReference(after word: RealmsConfWord) -> Bool {
        !word.isQuoted && word.text.hasSuffix("$") && Int(word.range.end) == token.start
    }

    private static func endsReference(_ byte: UInt8) -> Bool {
        byte == .closeBrace || byte == .semicolon || byte == .quote || byte.isBlank || byte.isLineEnd
    }

    /// Reports a `${...}` outside of quotes; the hint shows the word only in a harmless statement.
    mutating func skipUnquotedReference(after word: RealmsConfWord, isHarmless: Bool) {
        repeat {
            var end = token.start
            while end < text.bytes.count, !Self.endsReference(text.bytes[end]) { end += 1 }
            if end < text.bytes.count, text.bytes[end] == .closeBrace { end += 1 }
            scanner.position = end
            token.end = end
            advance()
            // A word directly after the `}` belongs to the same text, and may begin a further reference.
            while isWord(token.kind), token.start == previousEnd { advance() }
        } while token.kind == .openBrace && token.start == previousEnd && text.bytes[token.start - 1] == .dollar
        let range = SourceRange(word.range.start, UInt32(previousEnd))
        let written = text.string(in: range)
        // Only environment variables have names in capital letters, but properties may have them too.
        let variables = written.replacing(/\$\{([A-Z_]+)\}/) { "${env:\($0.1)}" }
        let isSame = variables.utf8.elementsEqual(written.utf8)
        let hint = "write \"\(written)\"" + (isSame ? "" : ", or \"\(variables)\" for the environment variable")
        let shownHint = isHarmless ? hint : "put the whole word in double quotes"
        diagnostics.error("`${...}` outside of quotes", at: range, hint: shownHint)
    }
}

extension Unicode.Scalar {
    fileprivate var isInvisible: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator: true
        default: false
        }
    }
}
