// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

/// The language of pam.d files and of pam.conf.
///
/// A text that is accepted means what it means to libpam 1.7. A text that libpam misreads in silence, or of which it makes a
/// line that always fails, is rejected; `docs/pam.md` has the list. `@include` is read as Debian's libpam does.
///
/// Source: libpam of Linux-PAM 1.7.2 (`pam_handlers.c`, `pam_misc.c`, `pam_line.c`). The conformance tests contain
/// recorded cases.
public struct PAMFile: Sendable {
    /// The form of a text.
    public enum Form: Sendable {
        /// A file of a folder such as /etc/pam.d, for one service.
        case service
        /// A pam.conf, whose lines begin with the name of a service.
        case conf
    }

    /// The words that messages about these texts may quote; give them to the ``SourceText`` of a file.
    public static let names = KnownNames(
        harmless: [],
        words: Set(
            PAMType.allCases.map(\.rawValue) + ControlFlag.allCases.map(\.rawValue) + PAMCode.allCases.map(\.name)
                + OutcomeRule.actions.map(\.description) + ["include", "substack", "@include", "default"]
        )
    )

    /// The text that the lines were read from.
    public let text: SourceText
    /// The lines in the order of the text.
    public let lines: [PAMLine]

    /// Parses a text.
    public static func parse(_ text: SourceText, form: Form = .service) -> Parsed<PAMFile> {
        if let fault = text.validationError() {
            return Parsed(partial: PAMFile(text: text, lines: []), diagnostics: [fault])
        }
        var parser = PAMParser(text, form)
        let lines = parser.parse()
        return Parsed(partial: PAMFile(text: text, lines: lines), diagnostics: parser.diagnostics.inOrder)
    }
}

/// The management function for which a line of a pam.d file is.
public enum PAMType: String, Sendable, Hashable, CaseIterable {
    /// pam_authenticate and pam_setcred.
    case auth
    /// pam_acct_mgmt.
    case account
    /// pam_chauthtok.
    case password
    /// pam_open_session and pam_close_session.
    case session
}

/// A line of a pam.d file.
public struct PAMLine: Sendable, Hashable {
    /// The part of a line after its type.
    public enum Target: Sendable, Hashable {
        /// A module.
        case module(PAMModule, PAMControl)
        /// The lines of another file in place of this one: `include`, and `@include` without a type.
        case include(String)
        /// The lines of another file, one level deeper.
        case substack(String)
    }

    /// The service in a pam.conf, in lower case; nil in a file of pam.d.
    public let service: String?
    /// The type; nil for `@include`, which includes the lines of all types.
    public let type: PAMType?
    /// True if a `-` is before the type: libpam does not log that the module is missing.
    public let isSilent: Bool
    /// The part after the type.
    public let target: Target
    /// The place of the control.
    public let controlRange: SourceRange
    /// The place of the module, or of the name of a file.
    public let targetRange: SourceRange
    /// The places of the arguments of a module, without their brackets.
    let argumentRanges: [SourceRange]

    /// The line as libpam reads it, in one line and without comments.
    public var text: String {
        let start = (service.map { PAMModule.word($0) + " " } ?? "") + (isSilent ? "-" : "") + (type?.rawValue ?? "@")
        switch target {
        case .module(let module, let control): return "\(start) \(control.text) \(module.text)"
        case .include(let name): return "\(start)\(type == nil ? "" : " ")include \(PAMModule.word(name))"
        case .substack(let name): return "\(start) substack \(PAMModule.word(name))"
        }
    }
}

extension PAMLine {
    /// The module as that of a `login` block: each argument `name=value` is an option, and `name` is `name=true`.
    ///
    /// It is nil for other lines. Its flag has no meaning.
    public var moduleEntry: ModuleEntry? {
        guard case .module(let module, _) = target else { return nil }
        let options = zip(module.arguments, argumentRanges).map { argument, range in
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let end = min(range.start + parts[0].utf8.count, range.end)
            return ModuleOption(
                key: parts[0],
                keyRange: SourceRange(range.start, end),
                value: parts.count > 1 ? parts[1] : "true",
                valueRange: SourceRange(min(end + 1, range.end), range.end)
            )
        }
        return ModuleEntry(className: module.className, classRange: targetRange, flag: .required, options: options)
    }
}

/// A module of a pam.d file, with its arguments.
public struct PAMModule: Sendable, Hashable {
    /// The module as the file names it, such as `pam_unix.so` or `/lib/security/pam_unix.so`.
    public let path: String
    /// The name without its folder and what follows the first dot, such as `pam_unix`.
    public let name: String
    /// The arguments, without the brackets around them.
    public let arguments: [String]

    /// Creates a module; nil if the path does not name a file.
    public init?(path: String, arguments: [String] = []) {
        let name = path.utf8.split(separator: .slash, omittingEmptySubsequences: false).last?.prefix { $0 != .dot }
        guard let name = name.map({ String(Substring($0)) }), !name.isEmpty, name != "?" else { return nil }
        (self.path, self.name, self.arguments) = (path, name, arguments)
    }

    /// True for a name of PAM, such as `pam_unix`, and false for a class of Gatehouse.
    public var isOfPAM: Bool { name.hasPrefix("pam_") }

    /// The name of PAM, or the class of Gatehouse.
    var className: String { isOfPAM ? name : path }

    /// The module and its arguments as a pam.d file has them.
    public var text: String { ([path] + arguments).map(Self.word).joined(separator: " ") }

    /// Returns a word, in brackets if it would not be one word without them.
    static func word(_ text: String) -> String {
        let isPlain =
            !text.isEmpty && text.utf8.first != UInt8(ascii: "[") && !text.utf8.contains(where: \.isSpaceOrTab)
        return isPlain ? text : "[\(text.replacing("]", with: "\\]"))]"
    }
}

/// Reads the lines of a pam.d file, and collects all errors.
private struct PAMParser {
    let text: SourceText
    let form: PAMFile.Form
    var diagnostics: Diagnostics

    /// The longest line of libpam before 1.6.
    private static let formerMaximum = 1023

    init(_ text: SourceText, _ form: PAMFile.Form) {
        (self.text, self.form) = (text, form)
        diagnostics = Diagnostics(text)
    }

    mutating func parse() -> [PAMLine] {
        var lines: [PAMLine] = []
        var offset = 0
        if text.hasByteOrderMark(at: 0) {
            let hint = "save the file as UTF-8 without a byte order mark"
            diagnostics.error("a byte order mark (U+FEFF)", at: SourceRange(0, 3), hint: hint)
            offset = 3
        }
        while offset < text.bytes.count, !diagnostics.isFull {
            do throws(PAMSyntaxError) {
                guard let line = try PAMLogicalLine.read(text.bytes, from: &offset) else { continue }
                let tokens = try line.tokens()
                lines.append(try parseLine(tokens[...]))
                if line.bytes.count > Self.formerMaximum {
                    diagnostics.warning("libpam before 1.6 cuts so long a line", at: tokens[0].range)
                }
            } catch {
                diagnostics.error(error.message, at: error.range, hint: error.hint)
            }
        }
        return lines
    }

    private mutating func parseLine(_ all: ArraySlice<PAMToken>) throws(PAMSyntaxError) -> PAMLine {
        var tokens = all
        let service = form == .conf ? tokens.removeFirst() : nil
        let first = try take(&tokens, "type", after: service, hint: Self.typeHint)
        if first.bytes.elementsEqual("@include".utf8), service == nil {
            let name = try takeFile(&tokens, after: first)
            return line(nil, nil, false, .include(name.string), control: first, target: name)
        }
        let (type, isSilent) = try type(of: first, before: tokens.first)
        let control = try take(&tokens, "control", after: first, hint: "as in: auth required pam_unix.so")
        for (word, make) in [("include", PAMLine.Target.include), ("substack", PAMLine.Target.substack)]
        where control.isWord(word) {
            let name = try takeFile(&tokens, after: control)
            return line(service, type, isSilent, make(name.string), control: control, target: name)
        }
        let (table, warnings) = try PAMControlReader.read(control)
        for warning in warnings { diagnostics.warning(warning.message, at: warning.range, hint: warning.hint) }
        let path = try take(&tokens, "module", after: control, hint: "as in: auth required pam_unix.so")
        for argument in tokens { warnOfGrouping(argument) }
        guard let module = PAMModule(path: path.string, arguments: tokens.map(\.string)) else {
            throw PAMSyntaxError("this names no module", at: path.range, hint: "as in pam_unix.so")
        }
        return line(service, type, isSilent, .module(module, table), control: control, target: path, arguments: tokens)
    }

    private func line(
        _ service: PAMToken?,
        _ type: PAMType?,
        _ isSilent: Bool,
        _ target: PAMLine.Target,
        control: PAMToken,
        target token: PAMToken,
        arguments: ArraySlice<PAMToken> = []
    ) -> PAMLine {
        PAMLine(
            service: service.map { String(decoding: $0.bytes.map(\.lowercased), as: UTF8.self) },
            type: type,
            isSilent: isSilent,
            target: target,
            controlRange: control.range,
            targetRange: token.range,
            argumentRanges: arguments.map { $0.range(of: $0.bytes.indices) }
        )
    }

    private func take(
        _ tokens: inout ArraySlice<PAMToken>,
        _ noun: String,
        after previous: PAMToken?,
        hint: String
    ) throws(PAMSyntaxError) -> PAMToken {
        if let token = tokens.popFirst() { return token }
        let end = previous?.range.end ?? 0
        throw PAMSyntaxError("the \(noun) is missing", at: SourceRange(end, end), hint: hint)
    }

    private func takeFile(_ tokens: inout ArraySlice<PAMToken>, after word: PAMToken) throws(PAMSyntaxError) -> PAMToken
    {
        let name = try take(&tokens, "name of the file", after: word, hint: "as in: \(word.string) common-auth")
        guard !name.bytes.isEmpty else {
            throw PAMSyntaxError(
                "the name of the file is empty",
                at: name.range,
                hint: "as in: \(word.string) common-auth"
            )
        }
        if let rest = tokens.first {
            let hint = "libpam ignores what follows the name of the file"
            throw PAMSyntaxError("a word after the name of an included file", at: rest.range, hint: hint)
        }
        return name
    }

    private static let typeHint = "the types are \(PAMType.allCases.map(\.rawValue).joined(separator: ", "))"

    private func type(
        of token: PAMToken,
        before next: PAMToken?
    ) throws(PAMSyntaxError) -> (PAMType, isSilent: Bool) {
        let isSilent = token.bytes.first == .hyphen
        let word = token.bytes.dropFirst(isSilent ? 1 : 0).map(\.lowercased)
        let types = PAMType.allCases.map(\.rawValue)
        if let type = PAMType.allCases.first(where: { $0.rawValue.utf8.elementsEqual(word) }) {
            return (type, isSilent)
        }
        var hint = NearestName.suggest(token.string, among: types).map { "did you mean `\($0)`?" } ?? Self.typeHint
        if form == .service, let next, types.contains(where: next.isWord) {
            hint = "the lines of a file in pam.d do not begin with a service"
        }
        throw PAMSyntaxError("there is no type \(token.shown)", at: token.range, hint: hint)
    }

    /// Warns about quotation marks and brackets that group nothing.
    private mutating func warnOfGrouping(_ token: PAMToken) {
        guard !token.isBracketed else { return }
        let quotes = token.bytes.count { $0 == .quote || $0 == .apostrophe }
        let hint = "write the whole argument in brackets, as in [name=two words]"
        if quotes % 2 == 1 {
            diagnostics.warning(
                "a quotation mark is a part of the argument, and groups nothing",
                at: token.range,
                hint: hint
            )
        } else if token.bytes.contains(UInt8(ascii: "[")), !token.bytes.contains(UInt8(ascii: "]")) {
            diagnostics.warning("a bracket within an argument groups nothing", at: token.range, hint: hint)
        }
    }
}
