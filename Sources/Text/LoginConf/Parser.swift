// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

/// Reads the tokens of a text and collects all errors; its extensions are the grammars of login.conf and realms.conf.
struct Parser {
    let text: SourceText
    /// The values of the references in a login.conf; nil for realms.conf, whose values are expanded later.
    let expansion: Expansion?
    var diagnostics: Diagnostics
    var scanner: Scanner
    var token: Token
    var previous: Token
    /// The number of blocks of realms.conf around the current token.
    var depth = 0

    init(_ text: SourceText, _ language: Scanner.Language, expansion: Expansion? = nil) {
        self.text = text
        self.expansion = expansion
        diagnostics = Diagnostics(text)
        scanner = Scanner(text.bytes, language)
        token = Token(kind: .semicolon, start: 0, end: 0)
        previous = token
        if text.hasByteOrderMark(at: 0) {
            scanner.position = 3
            reportByteOrderMark(at: 0)
        }
        advance()
    }

    mutating func advance() {
        previous = token
        token = scanner.next()
        repairToken()
    }

    /// Goes on at an offset, if it is behind the current token.
    mutating func advance(to offset: Int) {
        guard offset > token.end else { return }
        scanner.position = offset
        advance()
    }

    mutating func take() -> Token {
        advance()
        return previous
    }

    func peek() -> Token {
        var ahead = scanner
        return ahead.next()
    }

    /// The empty range after the previous token, at which a missing token is reported.
    var rangeAfterPrevious: SourceRange { SourceRange(previous.end, previous.end) }

    /// True if there is no white space between the current token and a word or string before it.
    var touchesPrevious: Bool { previous.isText && previous.end == token.start }

    /// Calls `skip`, which skips tokens without further errors.
    mutating func silently(_ skip: (inout Parser) -> Void) {
        let wasMuted = diagnostics.isMuted
        diagnostics.isMuted = true
        skip(&self)
        diagnostics.isMuted = wasMuted
    }

    // MARK: Texts

    /// Returns the text of a word or string; in login.conf with its escapes replaced.
    func string(of token: Token) -> String {
        let bytes = content(of: token)
        return token.kind == .string && scanner.language == .loginConf
            ? LoginConfEscapes.unescaped(bytes) : String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the bytes of a word, or of a string without its quotes.
    func content(of token: Token) -> ArraySlice<UInt8> {
        let bytes = text.bytes[token.start..<token.end]
        return token.kind == .string ? bytes.dropFirst().dropLast(token.isRepaired ? 0 : 1) : bytes
    }

    /// Returns a name for a message; nil if it may not be quoted.
    func quoted(_ name: String) -> String? { text.names.mayQuote(name) ? DiagnosticText.word(name) : nil }

    /// Returns a noun with the name that it stands for, if the name may be quoted.
    func named(_ noun: String, _ name: String) -> String { noun + (quoted(name).map { " " + $0 } ?? "") }
}

// MARK: Faulty tokens

extension Parser {
    /// Reports a token that cannot be right, and replaces it by one that was probably meant.
    private mutating func repairToken() {
        while beginsWrongComment {
            let sign = DiagnosticText.word(text.string(in: token.range))
            let hint = "comments of login contexts are `// ...` and `/* ... */`"
            diagnostics.error("\(sign) does not begin a comment here", at: token.range, hint: hint)
            scanner.position = text.bytes[token.start...].firstIndex(where: \.isLineEnd) ?? text.bytes.count
            token = scanner.next()
        }
        switch token.kind {
        case .unterminatedString: closeString()
        case .unterminatedComment:
            let range = SourceRange(token.start, token.start + 2)
            diagnostics.error("this comment is not closed", at: range, hint: "close it with `*/`")
            // The comment takes the rest of the file. Without this, the tokens in it would be reported as missing.
            diagnostics.isMuted = true
            token.kind = .endOfFile
        case .word where scanner.language == .loginConf && text.bytes[token.start..<token.end].contains(0xEF):
            (token.start..<token.end).first { text.hasByteOrderMark(at: $0) }.map { reportByteOrderMark(at: $0) }
        default: break
        }
    }

    private mutating func reportByteOrderMark(at offset: Int) {
        let hint = "save the file as UTF-8 without a byte order mark"
        diagnostics.error("a byte order mark (U+FEFF)", at: SourceRange(offset, offset + 3), hint: hint)
    }

    /// True if the current token is a `#` or `/` that was probably meant to begin a comment of login.conf, and no value.
    private var beginsWrongComment: Bool {
        guard token.kind == .invalidCharacter, !touchesPrevious, previous.kind != .equals else { return false }
        return text.bytes[token.start] == .hash || text.bytes[token.start] == .slash
    }

    /// Reports a string without its closing quote, and ends it at the end of its line.
    ///
    /// A `;`, `{` or `}` at the end of the line is not a part of the string: it probably ends the statement. If the next line
    /// has exactly one quotation mark, the string goes on to it.
    private mutating func closeString() {
        let hint = "close it with `\"`; it cannot continue on the next line"
        diagnostics.error("this quoted text is not closed", at: token.range, hint: hint)
        let bytes = text.bytes
        let end = token.end
        let nextLine = bytes[end...].drop(while: \.isLineEnd).prefix { !$0.isLineEnd }
        if let quote = nextLine.firstIndex(of: .quote), nextLine.lastIndex(of: .quote) == quote {
            token.end = quote + 1
        } else {
            while token.end > token.start + 1,
                bytes[token.end - 1].isLoginConfWhitespace || bytes[token.end - 1].isDelimiter
            {
                token.end -= 1
            }
            if token.end == end, end == bytes.count { diagnostics.isMuted = true }
        }
        token.kind = .string
        token.isRepaired = true
        scanner.position = token.end
    }
}
