// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

/// Parses the tokens of login.conf into contexts and modules.
///
///     file   = { entry }
///     entry  = NAME "{" module { module } "}" ";"
///     module = CLASS FLAG { KEY "=" VALUE } ";"
///
/// In a `login` block of realms.conf, a table of outcomes may replace the FLAG. After an error, the parser goes on after the
/// next `;` or at the next `}`, so a module has at most one error.
struct LoginConfParser {
    /// The kind of text that is parsed.
    enum Dialect {
        /// A login.conf; option values are expanded.
        case file(Expansion)
        /// A `login` block of realms.conf; option values are not expanded.
        case inlineBlock
    }

    /// A context whose modules are being read.
    struct Block {
        let name: LoginConfToken
        let open: LoginConfToken
    }

    let text: SourceText
    let dialect: Dialect
    var diagnostics: Diagnostics
    var scanner: LoginConfScanner
    var token: LoginConfToken
    var previous: LoginConfToken
    /// The options of the current module; all modules use the same list, so that it is allocated only once.
    var options = ModuleOptionList()

    init(_ text: SourceText, dialect: Dialect, at offset: Int = 0) {
        self.text = text
        self.dialect = dialect
        diagnostics = Diagnostics(text)
        scanner = LoginConfScanner(text.bytes, position: offset)
        let place = UInt32(truncatingIfNeeded: offset)
        token = LoginConfToken(kind: .openBrace, start: place, end: place)
        previous = token
        if offset == 0, text.hasByteOrderMark(at: 0) {
            scanner.position = 3
            reportByteOrderMark(at: SourceRange(0, 3))
        }
        advance()
    }

    @inline(__always)
    mutating func advance() {
        previous = token
        token = scanner.next()
        if token.kind.rawValue >= LoginConfToken.Kind.invalidCharacter.rawValue { replaceFaultyToken() }
    }

    /// Takes the current token.
    @inline(__always)
    private mutating func take() -> LoginConfToken {
        advance()
        return previous
    }

    // MARK: Contexts

    /// Parses all contexts of the file, and adds their names.
    mutating func parseFile(names: inout LoginContextNames) -> [LoginEntry] {
        var entries: [LoginEntry] = []
        while token.kind != .endOfFile {
            do throws(SyntaxError) {
                entries.append(try parseEntry(names: &names))
            } catch {
                report(error)
                skipEntry(after: error)
            }
        }
        return entries
    }

    private mutating func parseEntry(names: inout LoginContextNames) throws(SyntaxError) -> LoginEntry {
        guard token.isText else { throw unexpectedInsteadOfContext() }
        let nameToken = take()
        guard token.kind == .openBrace else { throw missingBrace(after: nameToken) }
        let block = Block(name: nameToken, open: take())
        let name = string(of: nameToken)
        if !diagnostics.isFull, let duplicate = names.add(name, at: nameToken.range, in: text) {
            diagnostics.add(duplicate, at: nameToken.range)
        }
        let (modules, isClosed) = parseModules(of: block)
        if isClosed {
            advance()
            if token.kind == .semicolon { advance() } else { report(missingSemicolonAfterBlock()) }
        }
        return LoginEntry(name: name, nameRange: nameToken.range, modules: modules)
    }

    // MARK: Modules

    /// Parses the modules of a block; if it is closed, its `}` is the current token.
    mutating func parseModules(of block: Block) -> (modules: [ModuleEntry], isClosed: Bool) {
        let errorsBefore = diagnostics.errorCount
        var modules: [ModuleEntry] = []
        while token.kind != .closeBrace {
            let errorsBefore = diagnostics.errorCount
            do throws(SyntaxError) {
                modules.append(try parseModule(of: block))
            } catch {
                // An unclosed string in the module may have been reported.
                if error.endsBlock || diagnostics.errorCount == errorsBefore { report(error) }
                if error.endsBlock { return (modules, false) }
                skipModule(after: error)
            }
        }
        if modules.isEmpty, diagnostics.errorCount == errorsBefore { report(emptyBlock(block)) }
        return (modules, true)
    }

    private mutating func parseModule(of block: Block) throws(SyntaxError) -> ModuleEntry {
        let isFirst = previous.kind == .openBrace
        guard token.isText else { throw unexpectedInsteadOfModule(of: block, isFirst: isFirst) }
        let classToken = take()
        let className = string(of: classToken)
        if className.isEmpty { throw SyntaxError("the class name is empty", at: classToken.range) }
        let flagToken = token
        var flag = ControlFlag.required
        var outcomes: [OutcomeRule] = []
        if let known = controlFlag(of: flagToken) {
            flag = known
            advance()
        } else if beginsOutcomeTable {
            outcomes = parseOutcomeTable()
        } else {
            throw unexpectedInsteadOfFlag(of: classToken, in: block, isFirst: isFirst)
        }
        options.removeAll()
        while token.kind != .semicolon {
            guard token.isText else { throw unexpectedInsteadOfOption(of: block) }
            try parseOption(of: block)
        }
        advance()
        return ModuleEntry(
            className: className,
            classRange: classToken.range,
            flag: flag,
            outcomes: outcomes,
            flagRange: flagToken.range,
            options: options.array()
        )
    }

    private mutating func parseOption(of block: Block) throws(SyntaxError) {
        let keyToken = take()
        guard token.kind == .equals else { throw missingEquals(after: keyToken, in: block) }
        advance()
        guard token.isText else { throw missingValue(of: keyToken, in: block) }
        let valueToken = take()
        let option = ModuleOption(
            key: string(of: keyToken),
            keyRange: keyToken.range,
            value: value(of: valueToken, key: keyToken),
            valueRange: valueToken.range
        )
        if let earlier = options.add(option) { warnOfDuplicate(option, earlier: earlier) }
        if valueToken.kind == .word, text.bytes[Int(valueToken.start)] >= 0x80 { warnOfCurlyQuote(option) }
    }
}
