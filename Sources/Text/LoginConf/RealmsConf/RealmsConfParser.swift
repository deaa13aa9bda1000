// SPDX-License-Identifier: Apache-2.0

/// Parses the tokens of realms.conf into statements, and collects all errors.
struct RealmsConfParser {
    let text: SourceText
    var diagnostics: Diagnostics
    var scanner: RealmsConfScanner
    var token: RealmsConfToken
    /// The offset after the previous token.
    var previousEnd: Int
    var depth = 0

    init(_ text: SourceText) {
        self.text = text
        diagnostics = Diagnostics(text)
        scanner = RealmsConfScanner(bytes: text.bytes)
        if text.hasByteOrderMark(at: 0) {
            scanner.position = 3
            let hint = "save the file as UTF-8 without a byte order mark"
            diagnostics.error("a byte order mark (U+FEFF)", at: SourceRange(0, 3), hint: hint)
        }
        previousEnd = scanner.position
        token = scanner.next()
    }

    mutating func advance() {
        previousEnd = token.end
        token = scanner.next()
    }

    /// The empty range after the previous token, at which a missing token is reported.
    var rangeAfterPrevious: SourceRange { SourceRange(UInt32(previousEnd), UInt32(previousEnd)) }

    // MARK: Statements

    mutating func parseFile() -> [Statement] {
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
        while true {
            switch token.kind {
            case .word, .string, .unterminatedString:
                let statement = parseStatement()
                statements.append(statement)
                isAfterBlock = statement.body != .none
                continue
            case .semicolon:
                let hint = isAfterBlock ? "a block needs no `;` after its `}`" : "a statement begins with its keyword"
                diagnostics.error("unexpected `;`", at: token.range, hint: hint)
                while token.kind == .semicolon { advance() }
            case .openBrace:
                let hint = "a block belongs to a statement: write KEYWORD { ... }"
                diagnostics.error("unexpected `{`", at: token.range, hint: hint)
                skipBlock()
            case .closeBrace, .endOfFile:
                return statements
            }
            isAfterBlock = false
        }
    }

    private mutating func parseStatement() -> Statement {
        let start = token.start
        let keyword = takeWord()
        checkKeyword(keyword)
        var arguments: [RealmsConfWord] = []
        while true {
            switch token.kind {
            case .word, .string, .unterminatedString:
                arguments.append(takeWord())
            case .semicolon:
                checkLoginHasBlock(keyword)
                advance()
                return statement(keyword, arguments: arguments, body: .none, from: start)
            case .openBrace:
                if let last = arguments.last, isUnquotedReference(after: last) {
                    let isHarmless =
                        text.names.isHarmless(keyword.text) && !arguments.contains { text.names.isSecret($0.text) }
                    skipUnquotedReference(after: last, isHarmless: isHarmless)
                    continue
                }
                let body = keyword.text == "login" ? parseLogin(keyword, arguments: arguments) : parseBlock(of: keyword)
                return statement(keyword, arguments: arguments, body: body, from: start)
            case .closeBrace, .endOfFile:
                let message = "missing `;` after the statement\(named(keyword, after: " "))"
                diagnostics.error(message, at: rangeAfterPrevious, hint: "a statement ends with `;`")
                // At the end of the file, unclosed blocks are probably consequences of this mistake.
                if token.kind == .endOfFile { diagnostics.isMuted = true }
                return statement(keyword, arguments: arguments, body: .none, from: start)
            }
        }
    }

    private func statement(
        _ keyword: RealmsConfWord,
        arguments: [RealmsConfWord],
        body: Statement.Body,
        from start: Int
    ) -> Statement {
        let range = SourceRange(UInt32(start), UInt32(max(start, previousEnd)))
        return Statement(keyword: keyword, arguments: arguments, body: body, range: range)
    }

    /// Returns a keyword for a message; nothing if it may not be quoted.
    private func named(_ keyword: RealmsConfWord, after words: String) -> String {
        text.names.mayQuote(keyword.text) ? words + DiagnosticText.word(keyword.text) : ""
    }

    private mutating func checkKeyword(_ keyword: RealmsConfWord) {
        if keyword.isQuoted {
            let hint = "a statement begins with an unquoted word"
            diagnostics.error("a keyword in quotes", at: keyword.range, hint: hint)
        } else if keyword.text.hasPrefix("//") || keyword.text.hasPrefix("/*") {
            let hint = "comments are `# ...`, except in login blocks"
            diagnostics.error(
                "`\(keyword.text.prefix(2))` does not begin a comment here",
                at: keyword.range,
                hint: hint
            )
        }
    }

    // MARK: Blocks

    private mutating func parseBlock(of keyword: RealmsConfWord) -> Statement.Body {
        let open = token
        guard depth < RealmsConf.maximumDepth else {
            let message = "blocks are nested more than \(RealmsConf.maximumDepth) deep"
            diagnostics.error(message, at: open.range)
            skipBlock()
            return .block([])
        }
        advance()
        depth += 1
        let statements = parseStatements()
        depth -= 1
        closeBlock(of: keyword, open: open)
        return .block(statements)
    }

    private mutating func closeBlock(of keyword: RealmsConfWord, open: RealmsConfToken) {
        guard token.kind != .closeBrace else { return advance() }
        let hint = "the block begins at \(text.place(of: open.range)); close it with `}`"
        diagnostics.error("the block\(named(keyword, after: " of ")) is not closed", at: rangeAfterPrevious, hint: hint)
        // The outer blocks are probably unclosed because of the same mistake, so they are not reported.
        diagnostics.isMuted = true
    }

    private mutating func skipBlock() {
        var depth = 0
        repeat {
            if token.kind == .openBrace { depth += 1 }
            if token.kind == .closeBrace { depth -= 1 }
            advance()
        } while depth > 0 && token.kind != .endOfFile
    }

    // MARK: Login blocks

    private mutating func checkLoginHasBlock(_ keyword: RealmsConfWord) {
        guard depth == 0, keyword.text == "login" else { return }
        diagnostics.error("`login` without a block", at: keyword.range, hint: "write login NAME { ... }")
    }

    private mutating func parseLogin(_ keyword: RealmsConfWord, arguments: [RealmsConfWord]) -> Statement.Body {
        if depth > 0 {
            let hint = "move it to the top level"
            diagnostics.error("a `login` block within another block", at: keyword.range, hint: hint)
        } else if arguments.count != 1 {
            let place = arguments.count > 1 ? arguments[1].range : keyword.range
            diagnostics.error("a `login` block has one name", at: place, hint: "write login NAME { ... }")
        }
        let open = token
        var inner = LoginConfParser(text, dialect: .inlineBlock, at: open.end)
        let name = loginConfToken(for: arguments.first ?? keyword)
        let brace = LoginConfToken(kind: .openBrace, start: UInt32(open.start), end: UInt32(open.end))
        let block = LoginConfParser.Block(name: name, open: brace)
        let (modules, isClosed) = inner.parseModules(of: block)
        diagnostics.merge(inner.diagnostics)
        scanner.position = Int(isClosed ? inner.token.end : inner.token.start)
        previousEnd = scanner.position
        token = scanner.next()
        if token.kind == .semicolon { advance() }
        return .login(modules)
    }

    /// Returns a word as a token of login.conf, for the messages of the parser of `login` blocks.
    private func loginConfToken(for word: RealmsConfWord) -> LoginConfToken {
        let (kind, range) = (word.isQuoted ? LoginConfToken.Kind.string : .word, word.range)
        return LoginConfToken(kind: kind, content: .replacement, start: range.start, end: range.end)
    }
}
