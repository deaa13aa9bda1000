// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import RealmKit

/// The grammar of login.conf.
///
///     file    = { context }
///     context = NAME "{" module { module } "}" ";"
///     module  = CLASS FLAG { KEY "=" VALUE } ";"
///
/// In a `login` block of realms.conf, a table of outcomes may replace the FLAG. After an error, the parser goes on after the
/// next `;` or at the next `}`, so a module has at most one error.
extension Parser {
    /// A context whose modules are being read.
    struct Context {
        let name: String
        /// True in realms.conf, whose messages always quote the name.
        var isAlwaysQuoted = false
        let nameRange: SourceRange
        /// The place of its `{`.
        let open: SourceRange
    }

    /// Parses all contexts of the file, and adds their names.
    mutating func parseContexts(names: inout LoginContextNames) -> [LoginEntry] {
        var entries: [LoginEntry] = []
        while token.kind != .endOfFile {
            do throws(SyntaxError) {
                entries.append(try parseContext(names: &names))
            } catch {
                report(error)
                skipContext(after: error)
            }
        }
        return entries
    }

    private mutating func parseContext(names: inout LoginContextNames) throws(SyntaxError) -> LoginEntry {
        guard token.isText else { throw unexpected(insteadOf: .name) }
        let nameToken = take()
        let name = string(of: nameToken)
        guard token.kind == .openBrace else { throw missingBrace(after: name) }
        let context = Context(name: name, nameRange: nameToken.range, open: token.range)
        advance()
        if !diagnostics.isFull, let duplicate = names.add(name, at: nameToken.range, in: text) {
            diagnostics.add(duplicate, at: nameToken.range)
        }
        let (modules, isClosed) = parseModules(of: context)
        if isClosed {
            advance()
            if token.kind == .semicolon {
                advance()
            } else {
                diagnostics.error("missing `;` after `}`", at: rangeAfterPrevious, hint: "write `};`")
            }
        }
        return LoginEntry(name: name, nameRange: nameToken.range, modules: modules)
    }

    // MARK: Modules

    /// Parses the modules of a context; if it is closed, its `}` is the current token.
    mutating func parseModules(of context: Context) -> (modules: [ModuleEntry], isClosed: Bool) {
        let errorsBefore = diagnostics.errorCount
        var modules: [ModuleEntry] = []
        while token.kind != .closeBrace {
            let errorsBefore = diagnostics.errorCount
            do throws(SyntaxError) {
                modules.append(try parseModule(of: context))
            } catch {
                // An unclosed string in the module may have been reported.
                if error.endsContext || diagnostics.errorCount == errorsBefore { report(error) }
                if error.endsContext { return (modules, false) }
                skipModule(after: error)
            }
        }
        if modules.isEmpty, diagnostics.errorCount == errorsBefore {
            let hint = "the JDK ignores an empty context and uses `other`; remove it or add a module"
            let name = quotedName(of: context).map { " " + $0 } ?? ""
            diagnostics.error("the context\(name) has no modules", at: context.nameRange, hint: hint)
        }
        return (modules, true)
    }

    /// Returns the name of a context for a message; nil if it may not be quoted.
    func quotedName(of context: Context) -> String? {
        context.isAlwaysQuoted ? DiagnosticText.word(context.name) : quoted(context.name)
    }

    private mutating func parseModule(of context: Context) throws(SyntaxError) -> ModuleEntry {
        guard token.isText else { throw unexpected(insteadOf: .className, in: context) }
        let classToken = take()
        let className = string(of: classToken)
        if className.isEmpty { throw SyntaxError("the class name is empty", at: classToken.range) }
        let flagRange = token.range
        var flag = ControlFlag.required
        var outcomes: [OutcomeRule] = []
        if let known = controlFlag(of: token) {
            flag = known
            advance()
        } else if beginsOutcomeTable {
            outcomes = parseOutcomeTable()
        } else {
            throw unexpectedInsteadOfFlag(of: classToken, in: context)
        }
        return ModuleEntry(
            className: className,
            classRange: classToken.range,
            flag: flag,
            outcomes: outcomes,
            flagRange: flagRange,
            options: try parseOptions(of: context)
        )
    }

    /// Parses the options of a module and its `;`.
    private mutating func parseOptions(of context: Context) throws(SyntaxError) -> [ModuleOption] {
        var options: [ModuleOption] = []
        // Keys are compared byte by byte, as in the JDK. The dictionary has all keys if there are more than a few.
        var indices: [UTF8Text: Int] = [:]
        var last: ModuleOption?
        while token.kind != .semicolon {
            guard token.isText else { throw unexpectedInsteadOfOption(after: last, in: context) }
            let option = try parseOption(of: context)
            last = option
            if options.count == 8 {
                for (index, option) in options.enumerated() { indices[UTF8Text(option.key)] = index }
            }
            let earlier =
                options.count < 8
                ? options.firstIndex { $0.key.hasBytes(of: option.key) } : indices[UTF8Text(option.key)]
            if let earlier {
                warnOfDuplicate(option, earlier: options[earlier])
                options[earlier] = option
            } else {
                if options.count >= 8 { indices[UTF8Text(option.key)] = options.count }
                options.append(option)
            }
        }
        advance()
        return options
    }

    private mutating func parseOption(of context: Context) throws(SyntaxError) -> ModuleOption {
        let before = rangeAfterPrevious
        let keyToken = take()
        let key = string(of: keyToken)
        guard token.kind == .equals else { throw missingEquals(after: keyToken, at: before, in: context) }
        advance()
        guard token.isText else {
            let isMissing = token.kind == .semicolon || token.kind == .closeBrace
            throw isMissing ? noValue(of: keyToken) : unexpected(insteadOf: .value, of: key, in: context)
        }
        let valueToken = take()
        let option = ModuleOption(
            key: key,
            keyRange: keyToken.range,
            value: value(of: valueToken, key: key),
            valueRange: valueToken.range
        )
        if valueToken.kind == .word { warnOfCurlyQuote(option) }
        return option
    }

    /// Returns the value of an option; in login.conf its references are expanded.
    private mutating func value(of token: Token, key: String) -> String {
        let value = string(of: token)
        guard let expansion, !token.isRepaired, value.utf8.contains(.dollar), !diagnostics.isFull else { return value }
        do throws(Diagnostic) {
            let isSecret = !text.names.isHarmless(key)
            return try Expander(syntax: .jdk, expansion: expansion, isSecret: isSecret, text: text, range: token.range)
                .string(of: value)
        } catch {
            diagnostics.add(error, at: token.range)
            return value
        }
    }

    /// Returns the control flag in a token, in upper or lower case; nil if the token is not a flag.
    ///
    /// The JDK also accepts some letters outside of ASCII; they are rejected here.
    func controlFlag(of token: Token) -> ControlFlag? {
        guard token.isText else { return nil }
        let word = string(of: token)
        return ControlFlag(rawValue: word)
            ?? ControlFlag.allCases.first { $0.rawValue.utf8.elementsEqual(word.utf8.lazy.map(\.lowercased)) }
    }

    // MARK: After an error

    /// Skips the rest of a context with its `};`, up to the next context.
    private mutating func skipContext(after error: SyntaxError) {
        silently { parser in
            parser.advance(to: error.range.end)
            while parser.token.kind != .endOfFile, !parser.beginsContext {
                parser.advance()
                guard parser.previous.kind == .closeBrace else { continue }
                if parser.token.kind == .semicolon { parser.advance() }
                return
            }
        }
    }

    /// Skips the rest of a module with its `;`, up to a `}` or to the next context.
    private mutating func skipModule(after error: SyntaxError) {
        silently { parser in
            parser.advance(to: error.range.end)
            var depth = 0
            while parser.token.kind != .endOfFile {
                if depth == 0, parser.token.kind == .closeBrace || parser.beginsContext { return }
                if parser.token.kind == .openBrace { depth += 1 }
                if parser.token.kind == .closeBrace { depth -= 1 }
                parser.advance()
                if depth == 0, parser.previous.kind == .semicolon { return }
            }
        }
    }

    private var beginsContext: Bool { token.isText && peek().kind == .openBrace }
}
