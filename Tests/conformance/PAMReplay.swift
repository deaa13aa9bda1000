// SPDX-License-Identifier: Apache-2.0

internal import LoginConf
internal import RealmConfiguration
internal import RealmKit
internal import Synchronization

/// Replays PAM services through the parser of pam.d files and the engine.
enum PAMReplay {
    /// Texts of files by their names; the service is `svc`.
    struct Case: Sendable {
        let id: String
        var files: [String: [UInt8]] = [:]
    }

    /// A call of a module: its number, and its arguments.
    struct Call: Sendable, Equatable {
        let number: String
        let arguments: [String]
    }

    enum Answer: Sendable, Equatable {
        case ran(result: String, calls: [Call])
        /// The errors of the files.
        case refused([String])

        /// The answer as in the recorded tables: the result, and the numbers of the modules.
        var line: String {
            switch self {
            case .ran(let result, let calls):
                result + "\t" + (calls.isEmpty ? "-" : calls.map(\.number).joined(separator: ","))
            case .refused(let errors): "refused\t" + errors.joined(separator: "; ")
            }
        }
    }

    /// Returns what libpam would answer to `pam_authenticate` or, for the type `account`, to `pam_acct_mgmt`.
    static func answer(_ test: Case, type: String = "auth") -> Answer {
        var resolver = PAMResolver { name throws(PAMResolver.UnreadableFile) in
            let file = name.hasPrefix("%D%/") ? String(name.dropFirst(4)) : name
            guard let bytes = test.files[file] else {
                throw PAMResolver.UnreadableFile("no such file", isMissing: true)
            }
            return SourceText(name: file, bytes: bytes, names: PAMFile.names)
        }
        let stack: PAMStack
        do throws(ConfigurationErrors) {
            stack = try resolver.stack(PAMType(rawValue: type) ?? .auth, of: "svc").get()
        } catch {
            return .refused(
                error.diagnostics.filter { $0.severity == .error }.map {
                    "\($0.file):\($0.line):\($0.column) \($0.message)"
                }
            )
        }
        let calls = CallList()
        let modules = stack.entries.map { ReplayedModule($0, calls: calls) }
        let login = LoginStack(name: "svc", zip(stack.entries, modules).map(entry), clock: SystemClock())
        guard let username = try? Username("u"),
            let report = login.loginNow(LoginRequest(realm: "replay", username: username))
        else { return .refused(["the stack waits"]) }
        let code = result(report, modules)
        let name = code == .authtokRecoverErr ? "authtok_recovery_err" : code.name
        return .ran(result: "PAM_" + name.uppercased(), calls: calls.all)
    }

    private static func entry(_ entry: PAMStack.Entry, _ module: ReplayedModule?) -> LoginStack.Entry {
        guard let module, let control = entry.control else { return .substack("substack", level: entry.level) }
        return LoginStack.Entry(
            module,
            module.table(of: control),
            control: control.text,
            name: entry.place,
            level: entry.level
        )
    }

    /// Returns the code for a decision; the engine reports an uncounted failure where libpam says PERM_DENIED.
    private static func result(_ report: LoginReport, _ modules: [ReplayedModule?]) -> PAMCode {
        if report.identity != nil { return .success }
        let steps = report.steps.filter { $0.phase == .login }
        guard let state = steps.last?.state, state != .undecided else { return .permDenied }
        guard case .module(let index, .login, let failure)? = report.refusal,
            let step = steps.last(where: { $0.index == index })
        else { return state == .granting ? .ignore : .permDenied }
        // A jump behind the end of the stack has a failure of its own, and not that of the module.
        guard state == .refusing else {
            return step.action == .ok || step.action == .done ? modules[index]?.code ?? .permDenied : .ignore
        }
        guard step.outcome.failure == failure, let code = modules[index]?.code else { return .permDenied }
        return code
    }
}

/// The modules that were called, in order.
private final class CallList: Sendable {
    private let calls = Mutex<[PAMReplay.Call]>([])

    var all: [PAMReplay.Call] { calls.withLock { $0 } }

    func append(_ call: PAMReplay.Call) { calls.withLock { $0.append(call) } }
}

/// A module that returns the code in its arguments.
///
/// It is `%M%`, with `ret=` for `auth` and `acct=` for `account`. The module `%N%` has no functions; others do not exist.
private struct ReplayedModule: ImmediateLoginModule {
    /// The code that the module returns; nil if PAM has none with its number.
    let code: PAMCode?
    private let call: PAMReplay.Call?
    private let calls: CallList

    /// Creates the module of an entry; nil for the beginning of a sub-stack.
    init?(_ entry: PAMStack.Entry, calls: CallList) {
        guard case .module(let module) = entry.kind else { return nil }
        self.calls = calls
        guard module.path == "%M%" else {
            (code, call) = (.moduleUnknown, nil)
            return
        }
        let value = { (key: String) in module.arguments.last { $0.hasPrefix(key + "=") }?.dropFirst(key.count + 1) }
        let text = (entry.type == .account ? value("acct") : nil) ?? value("ret") ?? "0"
        code = UInt8(text).map { PAMCode(rawValue: $0) } ?? PAMCode(name: text)
        call = PAMReplay.Call(number: String(value("id") ?? "0"), arguments: module.arguments)
    }

    init(realm: any Realm, options: ModuleOptions) throws(BadModule) { throw BadModule("can be created only in code") }

    /// Returns the table in which all failures have the action of this module's code, because the engine has fewer codes.
    func table(of control: PAMControl) -> ActionTable {
        // libpam counts a code that PAM does not define as a failure for every control.
        guard let code else { return ActionTable(success: .bad, failure: .bad) }
        return ActionTable(success: control[.success], ignored: control[.ignore], failure: control[code])
    }

    func authenticateUser(_ attempt: LoginAttempt) throws(LoginFault) -> Verdict {
        if let call { calls.append(call) }
        switch code {
        case .success: return attempt.commit(groups: [])
        case .ignore: return .ignored
        case nil: return .failed(.permissionDenied)
        case .some(let code):
            let kind = LoginFailure.allCases.first { PAMCode(.failure($0)) == code }
            return .failed(kind ?? .internalError)
        }
    }
}

// MARK: The recorded languages

extension PAMReplay {
    /// Returns the cases of a text of `@case`, `@file` and `@end`.
    static func cases(_ text: [UInt8]) -> [Case] {
        var cases: [Case] = []
        var file = ""
        for line in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            let words = String(decoding: line, as: UTF8.self).split(separator: " ", maxSplits: 1).map(String.init)
            switch words.first {
            case "@case": cases.append(Case(id: words[1]))
            case "@file":
                file = words[1]
                cases[cases.count - 1].files[file] = []
            case "@end":
                let mark = Array("%NONL%\n".utf8)
                if let content = cases.last?.files[file], content.suffix(mark.count).elementsEqual(mark) {
                    cases[cases.count - 1].files[file] = content.dropLast(mark.count)
                }
                file = ""
            default:
                if !file.isEmpty { cases[cases.count - 1].files[file, default: []] += line + [UInt8(ascii: "\n")] }
            }
        }
        return cases
    }

    /// Returns the case of a line of a table, whose second column is a stack: `CONTROL OUTCOME`, `include{...}` and
    /// `substack{...}`, separated by `;`.
    static func tableCase(_ line: some StringProtocol, type: String = "auth") -> Case {
        let columns = line.split(separator: "\t", omittingEmptySubsequences: false)
        var writer = StackWriter(rest: Substring(columns.count > 1 ? columns[1] : ""), type: type)
        writer.write(file: "svc")
        return Case(id: String(columns[0]), files: writer.files.mapValues { Array($0.utf8) })
    }

    /// Writes the pam.d files of a stack.
    private struct StackWriter {
        var rest: Substring
        let type: String
        private(set) var files: [String: String] = [:]
        private var modules = 0

        init(rest: Substring, type: String) { (self.rest, self.type) = (rest, type) }

        mutating func write(file: String) {
            files[file] = ""
            while let first = rest.first, first != "}" {
                if first == ";" || first == " " {
                    rest.removeFirst()
                } else if let word = ["include", "substack"].first(where: rest.hasPrefix) {
                    rest = rest.dropFirst(word.count).drop { $0 == " " }
                    let name = rest.hasPrefix("{") ? "inner\(files.count)" : "missing"
                    files[file, default: ""] += "\(type) \(word) \(name)\n"
                    guard rest.hasPrefix("{") else {
                        rest = rest.drop { $0 != ";" && $0 != "}" }
                        continue
                    }
                    rest.removeFirst()
                    write(file: name)
                    if rest.first == "}" { rest.removeFirst() }
                } else {
                    writeModule(file)
                }
            }
        }

        private mutating func writeModule(_ file: String) {
            let item = rest.prefix { $0 != ";" && $0 != "}" }
            rest = rest[item.endIndex...]
            let end = item.first == "[" ? item.firstIndex(of: "]").map(item.index(after:)) : item.firstIndex(of: " ")
            let control = item[..<(end ?? item.endIndex)]
            let codes = item[control.endIndex...].split(separator: " ").first?.split(separator: ",") ?? []
            modules += 1
            let path = ["missing": "pam_missing.so", "nosym": "%N%"][codes.first ?? ""] ?? "%M%"
            let answers = ["ret=\(codes.first ?? "")"] + codes.dropFirst().map(String.init)
            files[file, default: ""] += "\(type) \(control) \(path) id=\(modules) \(answers.joined(separator: " "))\n"
        }
    }
}
