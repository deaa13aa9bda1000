// SPDX-License-Identifier: Apache-2.0

/// The lines of one service for one type, with those of all included files, in the order in which libpam reaches them.
public struct PAMStack: Sendable {
    /// An entry of a stack: a module, or the beginning of a sub-stack, whose entries follow, one level deeper.
    public struct Entry: Sendable {
        /// The line, which is no `include`.
        public let line: PAMLine
        /// The depth of the sub-stack that contains the entry; 0 for the stack itself.
        public let level: Int
        /// The file of the line.
        public let text: SourceText

        /// The name of the file, the line and the column, such as `/etc/pam.d/sshd:3:17`.
        public var place: String { text.place(of: line.targetRange) }
    }

    /// The service.
    public let service: String
    /// The type.
    public let type: PAMType
    /// The entries; none if neither the service nor `other` has lines of this type, so that libpam refuses every login.
    public let entries: [Entry]
    /// True if the entries are those of `other`, because the service has none of this type.
    public let isOther: Bool
    /// The names of the files that were read, each once.
    public let files: [String]
}

/// Finds the stacks of services in a folder such as /etc/pam.d, or in a pam.conf.
///
/// It opens no file itself. Each file is parsed once.
public struct PAMResolver {
    /// Returns the text of a service or of an included file, by the name in the including line; the text has the path as its
    /// name, and ``PAMFile/names``.
    public typealias Reader = (_ name: String) throws(Expansion.UnreadableFile) -> SourceText

    /// The number of files that may be nested, as in libpam.
    public static let maximumDepth = 16
    /// The maximum number of entries of a stack, and of inclusions in it.
    public static let maximumEntries = 1000

    private let read: Reader
    /// The text of a pam.conf, whose services are used instead of files.
    private let conf: SourceText?
    private var parsedConf: Parsed<PAMFile>?
    private var parsed: [String: Result<Parsed<PAMFile>, Expansion.UnreadableFile>] = [:]

    /// Creates a resolver for a folder; or for a pam.conf, whose lines may include files.
    public init(conf: SourceText? = nil, _ read: @escaping Reader) { (self.conf, self.read) = (conf, read) }

    /// Returns the stack of a service.
    ///
    /// As in libpam, `other` is read too, and stands for a service without a file or without lines of this type. libpam takes
    /// the part of a service's name after the last `/`, in lower case; here the name is passed to the reader as it is.
    public mutating func stack(_ type: PAMType, of service: String) -> Parsed<PAMStack> {
        var run = PAMResolution(type: type, resolver: self)
        let stack = run.resolve(service)
        (parsed, parsedConf) = (run.resolver.parsed, run.resolver.parsedConf)
        return Parsed(partial: stack, diagnostics: run.diagnostics)
    }

    fileprivate mutating func file(_ name: String) -> Result<Parsed<PAMFile>, Expansion.UnreadableFile> {
        if let known = parsed[name] { return known }
        let file = Result { () throws(Expansion.UnreadableFile) in PAMFile.parse(try read(name)) }
        parsed[name] = file
        return file
    }

    /// Returns the lines of a service; nil if it has no file.
    fileprivate mutating func service(_ name: String) -> Result<Parsed<PAMFile>, Expansion.UnreadableFile> {
        guard let conf else { return file(name) }
        let whole = parsedConf ?? PAMFile.parse(conf, form: .conf)
        parsedConf = whole
        let wanted = name.utf8.map(\.lowercased)
        let lines = whole.partial.lines.filter { $0.service?.utf8.elementsEqual(wanted) ?? false }
        return .success(Parsed(partial: PAMFile(text: conf, lines: lines), diagnostics: whole.diagnostics))
    }
}

/// The work for one stack: splices included files, and collects what is wrong.
private struct PAMResolution {
    let type: PAMType
    var resolver: PAMResolver
    private(set) var diagnostics: [Diagnostic] = []
    private var entries: [PAMStack.Entry] = []
    private var files: [String] = []
    private var inclusions = 0
    /// True after an error in the inclusions, which would be repeated many times.
    private var hasStopped = false

    init(type: PAMType, resolver: PAMResolver) { (self.type, self.resolver) = (type, resolver) }

    mutating func resolve(_ service: String) -> PAMStack {
        let own = lines(of: service)
        let other = service == "other" ? nil : lines(of: "other")
        if own == nil, other == nil, diagnostics.isEmpty {
            let message = "PAM has no service \(DiagnosticText.word(service)), and no service `other`"
            diagnostics.append(SourceText(name: service, bytes: []).error(at: .none, message))
        }
        if let own { expand(own, level: 0, within: []) }
        let usesOther = entries.isEmpty && other != nil
        if usesOther, let other { expand(other, level: 0, within: []) }
        return PAMStack(service: service, type: type, entries: entries, isOther: usesOther, files: files)
    }

    private mutating func lines(of service: String) -> PAMFile? {
        switch resolver.service(service) {
        case .success(let file): return note(file)
        case .failure(let fault):
            guard !fault.isMissing else { return nil }
            let message = "the service cannot be read: \(fault.reason)"
            diagnostics.append(SourceText(name: service, bytes: []).error(at: .none, message))
            return nil
        }
    }

    /// Adds the diagnostics of a file when it is read for the first time.
    private mutating func note(_ file: Parsed<PAMFile>) -> PAMFile {
        let name = file.partial.text.name
        if !files.contains(where: { $0.utf8.elementsEqual(name.utf8) }) {
            files.append(name)
            diagnostics += file.diagnostics
        }
        return file.partial
    }

    private mutating func expand(_ file: PAMFile, level: Int, within chain: [String]) {
        for line in file.lines where line.type == type || line.type == nil {
            guard !hasStopped else { return }
            guard entries.count < PAMResolver.maximumEntries, inclusions < PAMResolver.maximumEntries else {
                return stop("the stack has more than \(PAMResolver.maximumEntries) entries", at: line, in: file)
            }
            switch line.target {
            case .module: entries.append(PAMStack.Entry(line: line, level: level, text: file.text))
            case .include(let name): include(name, line, level: level, in: file, within: chain)
            case .substack(let name):
                entries.append(PAMStack.Entry(line: line, level: level, text: file.text))
                include(name, line, level: level + 1, in: file, within: chain)
            }
        }
    }

    private mutating func include(
        _ name: String,
        _ line: PAMLine,
        level: Int,
        in file: PAMFile,
        within chain: [String]
    ) {
        inclusions += 1
        let chain = chain + [file.text.name]
        switch resolver.file(name) {
        case .failure(let fault):
            stop("\(DiagnosticText.word(name)) cannot be read: \(fault.reason)", at: line, in: file)
        case .success(let included):
            let names = chain + [included.partial.text.name]
            if chain.contains(where: { $0.utf8.elementsEqual(included.partial.text.name.utf8) }) {
                let hint = names.joined(separator: " includes ")
                return stop("the files include each other without end", at: line, in: file, hint: hint)
            }
            guard chain.count < PAMResolver.maximumDepth else {
                let hint = names.joined(separator: " includes ")
                let message = "more than \(PAMResolver.maximumDepth) files are nested"
                return stop(message, at: line, in: file, hint: hint)
            }
            expand(note(included), level: level, within: chain)
        }
    }

    private mutating func stop(_ message: String, at line: PAMLine, in file: PAMFile, hint: String? = nil) {
        diagnostics.append(file.text.error(at: line.targetRange, message, hint: hint, showing: .always))
        hasStopped = true
    }
}
