// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

/// Parses the tokens of login.conf into contexts and modules.
///
///     file   = { entry }
///     entry  = NAME "{" module { module } "}" ";"
///     module = CLASS FLAG { KEY "=" VALUE } ";"
///
/// In a `login` block of realms.conf, a table of outcomes may replace the FLAG.
///
/// This file parses a correct text. The extensions handle errors: they report one error for one mistake, and find a
/// place to continue. They are not inlined, so that they do not slow down the parsing of correct texts.
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

    /// The position of the parser in a block.
    enum Position {
        /// Inside of a module: its next part is read.
        case inModule
        /// After a module, with or without its `;`: the next module is read.
        case endOfModule
        /// After a block whose missing `}` has been reported: the next context is read.
        case endOfBlock
    }

    let text: SourceText
    let dialect: Dialect
    var diagnostics: Diagnostics
    var scanner: LoginConfScanner
    var token: LoginConfToken
    var previous: LoginConfToken
    /// The options of the current module; all modules use the same list, so that it is allocated only once.
    private var options = ModuleOptionList()
    /// The name of a context that was found where a module should begin; its `{` is the current token.
    var pendingName: LoginConfToken?
    /// The class of a module that was found where an option should begin; its flag is the current token.
    var pendingClass: LoginConfToken?
    /// The offset at which realms.conf continues after an unclosed `login` block; nil for the current token.
    var resumeOffset: UInt32?
    /// True after a wrong `;` within a module: the options that follow still belong to that module.
    var isContinuingModule = false

    init(_ text: SourceText, dialect: Dialect, at offset: Int = 0) {
        self.text = text
        self.dialect = dialect
        diagnostics = Diagnostics(text)
        scanner = LoginConfScanner(text.bytes, position: offset)
        let place = UInt32(truncatingIfNeeded: offset)
        token = LoginConfToken(kind: .semicolon, start: place, end: place)
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
        if token.kind.rawValue >= LoginConfToken.Kind.wordWithByteOrderMark.rawValue { replaceFaultyToken() }
    }

    // MARK: Contexts

    /// Parses all contexts of the file, and adds their names.
    mutating func parseFile(names: inout LoginContextNames) -> [LoginEntry] {
        var entries: [LoginEntry] = []
        while true {
            if token.isText || pendingName != nil {
                let name = takeToken(pending: pendingName)
                pendingName = nil
                guard let entry = parseEntry(named: name, names: &names) else { continue }
                entries.append(entry)
            } else if token.kind == .endOfFile {
                return entries
            } else {
                recoverBetweenEntries()
            }
        }
    }

    private mutating func parseEntry(named nameToken: LoginConfToken, names: inout LoginContextNames) -> LoginEntry? {
        guard token.kind == .openBrace || recoverOpenBrace(after: nameToken) else { return nil }
        let errorsBefore = diagnostics.errorCount
        let block = Block(name: nameToken, open: token)
        if token.kind == .openBrace { advance() }
        let name = string(of: nameToken)
        if !diagnostics.isFull, let duplicate = names.add(name, at: nameToken.range, in: text) {
            diagnostics.add(duplicate, at: nameToken.range)
        }
        var modules: [ModuleEntry] = []
        if parseModules(into: &modules, of: block) {
            if modules.isEmpty, diagnostics.errorCount == errorsBefore { reportEmptyBlock(of: nameToken) }
            advance()
            if token.kind == .semicolon { advance() } else { reportMissingSemicolonAfterBlock() }
        }
        return LoginEntry(name: name, nameRange: nameToken.range, modules: modules)
    }

    // MARK: Modules

    /// Parses the modules of a block; returns true if it has a `}`, which is then the current token.
    mutating func parseModules(into modules: inout [ModuleEntry], of block: Block) -> Bool {
        isContinuingModule = false
        while true {
            let position: Position
            if token.isText || pendingClass != nil {
                let className = takeToken(pending: pendingClass)
                pendingClass = nil
                position = parseModule(className, into: &modules, of: block)
            } else if token.kind == .closeBrace {
                return true
            } else {
                position = recoverModule(of: block, isFirst: modules.isEmpty)
            }
            if position == .endOfBlock { return false }
        }
    }

    private mutating func parseModule(
        _ classToken: LoginConfToken,
        into modules: inout [ModuleEntry],
        of block: Block
    ) -> Position {
        let className = string(of: classToken)
        if className.isEmpty { reportEmptyClass(classToken) }
        let flagToken = token
        var flag = ControlFlag.required
        var outcomes: [OutcomeRule] = []
        var position = Position.inModule
        if let known = controlFlag(of: flagToken) {
            flag = known
            isContinuingModule = false
            advance()
        } else if beginsOutcomeTable {
            outcomes = parseOutcomeTable()
            isContinuingModule = false
        } else {
            position = recoverFlag(&flag, after: classToken, of: block, isFirst: modules.isEmpty)
        }
        options.removeAll()
        while position == .inModule {
            if token.kind == .semicolon {
                advance()
                position = .endOfModule
            } else if token.isText {
                position = parseOption(takeToken(), of: block)
            } else {
                position = recoverOption(isFirst: options.isEmpty, of: block)
            }
        }
        modules.append(
            ModuleEntry(
                className: className,
                classRange: classToken.range,
                flag: flag,
                outcomes: outcomes,
                flagRange: flagToken.range,
                options: options.array()
            )
        )
        return position
    }

    private mutating func parseOption(_ keyToken: LoginConfToken, of block: Block) -> Position {
        guard token.kind == .equals else { return recoverEquals(after: keyToken, isFirst: options.isEmpty, of: block) }
        advance()
        guard token.isText else { return recoverValue(of: keyToken, in: block) }
        let valueToken = takeToken()
        let option = ModuleOption(
            key: string(of: keyToken),
            keyRange: keyToken.range,
            value: value(of: valueToken),
            valueRange: valueToken.range
        )
        if let earlier = options.add(option) { warnOfDuplicate(option, earlier: earlier) }
        if valueToken.kind == .word, text.bytes[Int(valueToken.start)] >= 0x80 { warnOfCurlyQuote(option) }
        return .inModule
    }

    // MARK: Tokens

    /// Returns the pending token; if there is none, takes the current token.
    @inline(__always)
    private mutating func takeToken(pending: LoginConfToken? = nil) -> LoginConfToken {
        if let pending { return pending }
        advance()
        return previous
    }

    /// Takes the current token if it is a word or string; returns nil for other tokens.
    @inline(never)
    mutating func takeText() -> LoginConfToken? {
        guard token.isText else { return nil }
        advance()
        return previous
    }
}
