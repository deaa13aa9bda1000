// SPDX-License-Identifier: Apache-2.0
// Gatehouse

// The words of realms.conf, and the errors within them.

extension RealmsConfParser {
    mutating func takeWord() -> Word {
        let current = token
        let word: Word
        switch current.kind {
        case .string: word = quotedWord(current)
        case .openString: word = openWord(current)
        case .word, .openBrace, .closeBrace, .semicolon, .endOfFile:
            word = Word(text.string(in: current.range), range: current.range, beginsLine: current.beginsLine)
            checkVisible(word)
        }
        advance()
        if current.kind != .openString, isWord(token.kind), token.start == gap {
            let whole = SourceRange(UInt32(current.start), UInt32(token.end))
            let hint = "put white space between them, or all of it in one pair of quotes"
            diagnoses.error("a quoted text touches another word", at: whole, hint: hint)
            // One error for a whole chain.
            while isWord(token.kind), token.start == gap { advance() }
        }
        return word
    }

    private func isWord(_ kind: RealmsConfToken.Kind) -> Bool {
        kind == .word || kind == .string || kind == .openString
    }

    private mutating func quotedWord(_ token: RealmsConfToken) -> Word {
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
        return Word(
            String(decoding: content, as: UTF8.self),
            range: token.range,
            isQuoted: true,
            beginsLine: token.beginsLine
        )
    }

    private mutating func reportEscape(at index: Int) {
        var end = index + 2
        while end < text.bytes.count, text.bytes[end].isContinuation { end += 1 }
        let range = SourceRange(UInt32(index), UInt32(end))
        let hint = "only `\\\"` and `\\\\` are escapes; write `\\\\` for a backslash"
        diagnoses.error("unknown escape \(Displayed.word(text.string(in: range)))", at: range, hint: hint)
    }

    /// Reads a quoted word that is not closed on its line; what looks like the end of the statement is not part of it.
    private mutating func openWord(_ token: RealmsConfToken) -> Word {
        let hint = "close it with `\"`; it cannot continue on the next line"
        diagnoses.error("this quoted text is not closed", at: token.range, hint: hint)
        var end = token.end
        while end > token.start + 1, Self.endsStatement(text.bytes[end - 1]) { end -= 1 }
        scanner.position = end
        self.token.end = end
        if token.end == text.bytes.count, end == token.end { diagnoses.isMuted = true }
        let content = SourceRange(UInt32(token.start + 1), UInt32(end))
        return Word(text.string(in: content), range: token.range, isQuoted: true, beginsLine: token.beginsLine)
    }

    private static func endsStatement(_ byte: UInt8) -> Bool {
        switch byte {
        case .semicolon, .openBrace, .closeBrace, .space, .tab: true
        default: false
        }
    }

    private mutating func checkVisible(_ word: Word) {
        guard word.text.utf8.contains(where: { $0 < 0x20 || $0 > 0x7E }) else { return }
        var offset = word.range.start
        for scalar in word.text.unicodeScalars {
            let end = offset + UInt32(UTF8.width(scalar))
            if scalar.isInvisible {
                let code = String(scalar.value, radix: 16, uppercase: true)
                let name = "U+" + String(repeating: "0", count: max(0, 4 - code.count)) + code
                let hint = "replace it with a space, or put the word in double quotes"
                diagnoses.error("an invisible character (\(name)) in a word", at: SourceRange(offset, end), hint: hint)
                return
            }
            offset = end
        }
    }

    // MARK: Unquoted expansions

    /// Returns whether the current `{` belongs to a `${` outside of quotes.
    func isExpansionWithoutQuotes(after word: Word) -> Bool {
        !word.isQuoted && word.text.hasSuffix("$") && Int(word.range.end) == token.start
    }

    mutating func skipExpansion(after word: Word) {
        var end = token.start
        while end < text.bytes.count, text.bytes[end] != .closeBrace, !text.bytes[end].isLineEnd { end += 1 }
        if end < text.bytes.count, text.bytes[end] == .closeBrace { end += 1 }
        scanner.position = end
        token.end = end
        advance()
        // A word that touches the `}` belongs to the same text.
        while isWord(token.kind), token.start == gap { advance() }
        let range = SourceRange(word.range.start, UInt32(gap))
        let hint = "write \"\(text.string(in: range))\""
        diagnoses.error("`${...}` outside of quotes", at: range, hint: hint)
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
