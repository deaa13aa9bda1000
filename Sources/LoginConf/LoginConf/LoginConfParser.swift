// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit

/// Reads the tokens of login.conf into contexts and modules.
///
///     file   = { entry }
///     entry  = NAME "{" module { module } "}" ";"
///     module = CLASS FLAG { KEY "=" VALUE } ";"
///
/// This file reads a correct text. The extensions report errors and find the place to continue, so that one mistake
/// gives one error; none of that is inlined here.
struct LoginConfParser {
    enum Dialect {
        /// A login.conf; option values are expanded.
        case file(Expansion)
        /// A `login` block of realms.conf; option values are left as written.
        case inlineBlock
    }

    /// A context whose modules are being read.
    struct Block {
        let name: LoginConfToken
        let open: LoginConfToken
    }

    /// The next thing to read.
    enum Step {
        /// The next part of the module.
        case goOn
        /// The next module; the `;` of this one was read, or is missing.
        case endOfModule
        /// The next context: the block ended without a `}`, which has been reported.
        case endOfBlock
    }

    let text: SourceText
    let dialect: Dialect
    var diagnoses: Diagnoses
    var scanner: LoginConfScanner
    var token: LoginConfToken
    /// The previous token.
    var previous: LoginConfToken
    /// The options of the current module; one list for all modules, so that it is allocated once.
    private var options = ModuleOptionList()
    /// The name of a context found in the place of a module; its `{` is the current token.
    var pendingName: LoginConfToken?
    /// The class of a module found in the place of an option; its flag is the current token.
    var pendingClass: LoginConfToken?
    /// The offset at which realms.conf continues after an unclosed `login` block, if not at the current token.
    var resumeOffset: UInt32?
    /// True if the last module is the rest of the one before, which a `;` ended too early.
    var isContinuingModule = false

    /// Creates a parser at the first token after an offset.
    init(_ text: SourceText, dialect: Dialect, at offset: Int = 0) {
        self.text = text
        self.dialect = dialect
        diagnoses = Diagnoses(text)
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
        if token.kind.rawValue >= LoginConfToken.Kind.markedWord.rawValue { mendToken() }
    }

    // MARK: Contexts

    mutating func parseFile(names: inout LoginNames) -> [LoginEntry] {
        var entries: [LoginEntry] = []
        while true {
            if token.isText || pendingName != nil {
                let name = take(pendingName)
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

    private mutating func parseEntry(named nameToken: LoginConfToken, names: inout LoginNames) -> LoginEntry? {
        guard token.kind == .openBrace || recoverOpenBrace(after: nameToken) else { return nil }
        let errorsBefore = diagnoses.errorCount
        let block = Block(name: nameToken, open: token)
        if token.kind == .openBrace { advance() }
        let name = string(of: nameToken)
        if !diagnoses.isFull, let duplicate = names.add(name, at: nameToken.range, in: text) {
            diagnoses.add(duplicate, at: nameToken.range)
        }
        var modules: [ModuleEntry] = []
        if parseModules(into: &modules, of: block) {
            if modules.isEmpty, diagnoses.errorCount == errorsBefore { reportEmptyBlock(of: nameToken) }
            advance()
            if token.kind == .semicolon { advance() } else { reportMissingSemicolonAfterBlock() }
        }
        return LoginEntry(name: name, nameRange: nameToken.range, modules: modules)
    }

    // MARK: Modules

    /// Reads the modules of a block; returns true at its `}`, which stays the current token, false if there is none.
    mutating func parseModules(into modules: inout [ModuleEntry], of block: Block) -> Bool {
        isContinuingModule = false
        while true {
            let step: Step
            if token.isText || pendingClass != nil {
                let className = take(pendingClass)
                pendingClass = nil
                step = parseModule(className, into: &modules, of: block)
            } else if token.kind == .closeBrace {
                return true
            } else {
                step = recoverModule(of: block, isFirst: modules.isEmpty)
            }
            if step == .endOfBlock { return false }
        }
    }

    private mutating func parseModule(
        _ classToken: LoginConfToken,
        into modules: inout [ModuleEntry],
        of block: Block
    ) -> Step {
        let className = string(of: classToken)
        if className.isEmpty { reportEmptyClass(classToken) }
        let flagToken = token
        var flag = ControlFlag.required
        var step = Step.goOn
        if let known = controlFlag(of: flagToken) {
            flag = known
            isContinuingModule = false
            advance()
        } else {
            step = recoverFlag(&flag, after: classToken, of: block, isFirst: modules.isEmpty)
        }
        options.removeAll()
        while step == .goOn {
            if token.kind == .semicolon {
                advance()
                step = .endOfModule
            } else if token.isText {
                step = parseOption(take(nil), of: block)
            } else {
                step = recoverOption(isFirst: options.isEmpty, of: block)
            }
        }
        modules.append(
            ModuleEntry(
                className: className,
                classRange: classToken.range,
                flag: flag,
                flagRange: flagToken.range,
                options: options.taken()
            )
        )
        return step
    }

    private mutating func parseOption(_ keyToken: LoginConfToken, of block: Block) -> Step {
        guard token.kind == .equals else { return recoverEquals(after: keyToken, isFirst: options.isEmpty, of: block) }
        advance()
        guard token.isText else { return recoverValue(of: keyToken, in: block) }
        let valueToken = take(nil)
        let option = ModuleOption(
            key: string(of: keyToken),
            keyRange: keyToken.range,
            value: value(of: valueToken),
            valueRange: valueToken.range
        )
        if let earlier = options.add(option) { warnOfDuplicate(option, earlier: earlier) }
        return .goOn
    }

    // MARK: Tokens

    /// Returns the given token; if there is none, takes the current one.
    @inline(__always)
    private mutating func take(_ noted: LoginConfToken?) -> LoginConfToken {
        if let noted { return noted }
        advance()
        return previous
    }

    /// Takes the current token if it is a word or string.
    @inline(never)
    mutating func takeText() -> LoginConfToken? {
        guard token.isText else { return nil }
        advance()
        return previous
    }
}
