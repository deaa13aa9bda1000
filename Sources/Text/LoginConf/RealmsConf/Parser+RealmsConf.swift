// SPDX-License-Identifier: Apache-2.0

/// The grammar of realms.conf; see ``RealmsConf``.
extension Parser {
    mutating func parseRealmsConf() -> [Statement] {
        var statements: [Statement] = []
        while token.kind != .endOfFile {
            statements += parseStatements()
            guard token.kind == .closeBrace else { continue }
            diagnostics.error("unexpected `}`", at: token.range, hint: "no block is open here")
            advance()
            if token.kind == .semicolon { advance() }
        }
        return statements
    }

    /// Parses statements up to a `}` or the end of the file.
    private mutating func parseStatements() -> [Statement] {
        var statements: [Statement] = []
        var isAfterBlock = false
        while token.kind != .closeBrace, token.kind != .endOfFile {
            if token.isText {
                let statement = parseStatement()
                statements.append(statement)
                isAfterBlock = statement.body != .none
                continue
            }
            if token.kind == .openBrace {
                let hint = "a block belongs to a statement: write KEYWORD { ... }"
                diagnostics.error("unexpected `{`", at: token.range, hint: hint)
                skipBlock()
            } else {
                let hint = isAfterBlock ? "a block needs no `;` after its `}`" : "a statement begins with its keyword"
                diagnostics.error("unexpected `;`", at: token.range, hint: hint)
                while token.kind == .semicolon { advance() }
            }
            isAfterBlock = false
        }
        return statements
    }

    private mutating func parseStatement() -> Statement {
        let start = token.start
        let keyword = takeWord()
        checkKeyword(keyword)
        var arguments: [RealmsConfWord] = []
        while token.isText {
            arguments.append(takeWord())
            reportReference(of: keyword, in: arguments)
        }
        var body = Statement.Body.none
        switch token.kind {
        case .openBrace:
            let isLogin = keyword.text == "login" && !namesPAMFile(peek())
            body = isLogin ? parseLogin(keyword, arguments: arguments) : parseBlock(of: keyword)
        case .semicolon:
            if depth == 0, keyword.text == "login" {
                diagnostics.error("`login` without a block", at: keyword.range, hint: "write login NAME { ... }")
            }
            advance()
        default:
            let message = "missing `;` after \(named("the statement", keyword.text))"
            diagnostics.error(message, at: rangeAfterPrevious, hint: "a statement ends with `;`")
            // At the end of the file, unclosed blocks are probably consequences of this mistake.
            if token.kind == .endOfFile { diagnostics.isMuted = true }
        }
        let range = SourceRange(start, max(start, previous.end))
        return Statement(keyword: keyword, arguments: arguments, body: body, range: range)
    }

    private mutating func checkKeyword(_ keyword: RealmsConfWord) {
        if keyword.isQuoted {
            let hint = "a statement begins with an unquoted word"
            diagnostics.error("a keyword in quotes", at: keyword.range, hint: hint)
        } else if keyword.text.hasPrefix("//") || keyword.text.hasPrefix("/*") {
            let message = "`\(keyword.text.prefix(2))` does not begin a comment here"
            diagnostics.error(message, at: keyword.range, hint: "comments are `# ...`, except in login blocks")
        }
        reportReference(of: keyword, in: [])
    }

    // MARK: Blocks

    private mutating func parseBlock(of keyword: RealmsConfWord) -> Statement.Body {
        let open = token.range
        guard depth < RealmsConf.maximumDepth else {
            diagnostics.error("blocks are nested more than \(RealmsConf.maximumDepth) deep", at: open)
            skipBlock()
            return .block([])
        }
        advance()
        depth += 1
        let statements = parseStatements()
        depth -= 1
        if token.kind == .closeBrace {
            advance()
        } else {
            let message = "the block\(quoted(keyword.text).map { " of " + $0 } ?? "") is not closed"
            let hint = "the block begins at \(text.place(of: open)); close it with `}`"
            diagnostics.error(message, at: rangeAfterPrevious, hint: hint)
            // The outer blocks are probably unclosed because of the same mistake, so they are not reported.
            diagnostics.isMuted = true
        }
        return .block(statements)
    }

    private mutating func skipBlock() {
        silently { parser in
            var depth = 0
            repeat {
                if parser.token.kind == .openBrace { depth += 1 }
                if parser.token.kind == .closeBrace { depth -= 1 }
                parser.advance()
            } while depth > 0 && parser.token.kind != .endOfFile
        }
    }

    /// True for the first word of a `login` block whose modules are in a pam.d file.
    private func namesPAMFile(_ token: Token) -> Bool {
        token.kind == .word && text.bytes[token.start..<token.end].elementsEqual(RealmsConf.pamFile.utf8)
    }

    /// Parses a `login` block by the grammar of login.conf.
    private mutating func parseLogin(_ keyword: RealmsConfWord, arguments: [RealmsConfWord]) -> Statement.Body {
        if depth > 0 {
            let hint = "move it to the top level"
            diagnostics.error("a `login` block within another block", at: keyword.range, hint: hint)
        } else if arguments.count != 1 {
            let place = arguments.count > 1 ? arguments[1].range : keyword.range
            diagnostics.error("a `login` block has one name", at: place, hint: "write login NAME { ... }")
        }
        let name = arguments.first ?? keyword
        // The name is a value of a harmless statement.
        let context = Context(name: name.text, isAlwaysQuoted: true, nameRange: name.range, open: token.range)
        scanner.language = .loginConf
        advance()
        let (modules, isClosed) = parseModules(of: context)
        scanner.language = .realmsConf
        scanner.position = isClosed ? token.end : token.start
        token.end = scanner.position
        advance()
        if token.kind == .semicolon { advance() }
        return .login(modules)
    }
}

// MARK: Words

extension Parser {
    private mutating func takeWord() -> RealmsConfWord {
        let beginsLine = previous.end == 0 || text.bytes[previous.end..<token.start].contains(where: \.isLineEnd)
        let first = take()
        if !first.isRepaired, token.isText, touchesPrevious {
            let whole = SourceRange(first.start, token.end)
            let isComma = token.kind == .word && text.bytes[token.start] == .comma
            let message = isComma ? "a comma follows a quoted text" : "a quoted text touches another word"
            let hint =
                isComma
                ? "words are separated by blanks: remove the comma"
                : "put white space between them, or write one quoted text"
            diagnostics.error(message, at: whole, hint: hint, showing: .never)
            // Further words without white space before them are not reported again.
            while token.isText, touchesPrevious { advance() }
        }
        if first.kind == .string {
            return RealmsConfWord(unescaped(first), range: first.range, isQuoted: true, beginsLine: beginsLine)
        }
        let word = withoutCurlyQuotes(string(of: first), at: first.range)
        rejectInvisibleCharacters(word, at: first.range)
        return RealmsConfWord(word, range: first.range, beginsLine: beginsLine)
    }

    /// Returns the content of a quoted word, and reports unknown escapes.
    private mutating func unescaped(_ token: Token) -> String {
        let bytes = content(of: token)
        var unescaped: [UInt8] = []
        var index = bytes.startIndex
        while index < bytes.endIndex {
            if bytes[index] == .backslash, index + 1 < bytes.endIndex {
                let escaped = bytes[index + 1]
                if escaped != .quote, escaped != .backslash { reportEscape(at: index) }
                index += 1
            }
            unescaped.append(bytes[index])
            index += 1
        }
        return String(decoding: unescaped, as: UTF8.self)
    }

    private mutating func reportEscape(at index: Int) {
        let end = text.bytes[(index + 2)...].firstIndex { !$0.isContinuation } ?? text.bytes.count
        let range = SourceRange(index, end)
        let hint = "only `\\\"` and `\\\\` are escapes; write `\\\\` for a backslash"
        diagnostics.error("unknown escape \(DiagnosticText.word(text.string(in: range)))", at: range, hint: hint)
    }

    private mutating func rejectInvisibleCharacters(_ word: String, at range: SourceRange) {
        guard word.utf8.contains(where: { $0 < 0x20 || $0 > 0x7E }) else { return }
        var offset = range.start
        for scalar in word.unicodeScalars {
            let end = offset + UTF8.width(scalar)
            if scalar.isInvisible {
                let code = String(scalar.value, radix: 16, uppercase: true)
                let name = "U+" + String(repeating: "0", count: max(0, 4 - code.count)) + code
                let hint = "replace it with a space, or put the word in double quotes"
                let message = "an invisible character (\(name)) in a word"
                return diagnostics.error(message, at: SourceRange(offset, end), hint: hint)
            }
            offset = end
        }
    }

    /// Returns a word without apostrophes and the curly quotes of a word processor around it, and reports them.
    ///
    /// A quotation mark within a word is a part of it.
    private mutating func withoutCurlyQuotes(_ word: String, at range: SourceRange) -> String {
        let apostrophe: Unicode.Scalar = "'"
        // Scalars are compared, because a mark and a combining character after it are one `Character`.
        guard let first = word.unicodeScalars.first, first == apostrophe || CurlyQuotes.opening.contains(first) else {
            return word
        }
        let hint = "replace it and the quotation mark that closes it with \""
        diagnostics.error("the quotation mark \(first) does not begin a quoted text", at: range, hint: hint)
        let content = word.unicodeScalars.dropFirst()
        guard let last = content.last, last == apostrophe || CurlyQuotes.closing.contains(last) else {
            return String(content)
        }
        return String(content.dropLast())
    }

    /// Reports a `${...}` outside of quotes in the last word of a statement; only the hint for a harmless statement shows it.
    private mutating func reportReference(of keyword: RealmsConfWord, in arguments: [RealmsConfWord]) {
        let word = arguments.last ?? keyword
        guard !word.isQuoted, word.text.contains("${") else { return }
        let mayQuote =
            text.names.isHarmless(keyword.text) && !arguments.contains { text.names.isSecret($0.text) }
        // Only environment variables have names in capital letters, but properties may have them too.
        let variables = word.text.replacing(/\$\{([A-Z_]+)\}/) { "${env:\($0.1)}" }
        let isSame = variables.utf8.elementsEqual(word.text.utf8)
        let hint = "write \"\(word.text)\"" + (isSame ? "" : ", or \"\(variables)\" for the environment variable")
        let shownHint = mayQuote ? hint : "put the whole word in double quotes"
        diagnostics.error("`${...}` outside of quotes", at: word.range, hint: shownHint)
    }
}

extension Unicode.Scalar {
    /// True for a control character, and for blanks and formats that are no spaces of ASCII.
    var isInvisible: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator: true
        default: false
        }
    }
}
