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
    ///
    /// A module is `%M%`, and returns the code in its arguments: `ret=` for `auth`, `acct=` for `account`.
    static func answer(_ test: Case, type: String = "auth") -> Answer {
        var resolver = PAMResolver { name throws(Expansion.UnreadableFile) in
            let file = name.hasPrefix("%D%/") ? String(name.dropFirst(4)) : name
            guard let bytes = test.files[file] else {
                throw Expansion.UnreadableFile("no such file", isMissing: true)
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
        let modules = stack.entries.map { entry -> PAMModule? in
            guard case .module(let module, _) = entry.line.target else { return nil }
            return module
        }
        let codes = modules.map { module -> PAMCode? in
            guard let module, module.path == "%M%" else { return .moduleUnknown }
            let text = (type == "account" ? module.value(of: "acct") : nil) ?? module.value(of: "ret") ?? "0"
            return UInt8(text).map { PAMCode(rawValue: $0) } ?? PAMCode(name: text)
        }
        guard let (code, called) = run(stack, codes: codes) else { return .refused(["the stack waits"]) }
        let calls = called.compactMap { modules[$0] }.filter { $0.path == "%M%" }
        let name = code == .authtokRecoverErr ? "authtok_recovery_err" : code.name
        return .ran(
            result: "PAM_" + name.uppercased(),
            calls: calls.map { Call(number: $0.value(of: "id") ?? "0", arguments: $0.arguments) }
        )
    }

    /// Evaluates a stack whose entries return codes, with the tables that a server uses; nil for a code that PAM does not have.
    ///
    /// Returns the code for the decision, and the entries that were called.
    static func run(_ stack: PAMStack, codes: [PAMCode?]) -> (code: PAMCode, called: [Int])? {
        let calls = CallList()
        let entries = stack.entries.indices.map { index -> LoginStack.Entry in
            let entry = stack.entries[index]
            guard case .module(_, let control) = entry.line.target else {
                return .substack("substack", level: entry.level)
            }
            let module = ReplayedModule(codes[index], index: index, calls: calls)
            let table = module.table(of: control)
            return LoginStack.Entry(module, table, control: control.text, name: entry.place, level: entry.level)
        }
        guard let username = try? Username("u"),
            let report = LoginStack(name: "svc", entries, clock: SystemClock())
                .loginNow(LoginRequest(realm: "replay", username: username), measuringDurations: false)
        else { return nil }
        return (result(report, codes: codes), calls.all)
    }

    /// Returns the code for a decision; the engine reports an uncounted failure where libpam says PERM_DENIED.
    private static func result(_ report: LoginReport, codes: [PAMCode?]) -> PAMCode {
        if report.identity != nil { return .success }
        let steps = report.steps.filter { $0.phase == .login }
        guard let state = steps.last?.state, state != .undecided else { return .permDenied }
        guard case .module(let index, .login, let failure)? = report.refusal,
            let step = steps.last(where: { $0.index == index })
        else { return state == .granting ? .ignore : .permDenied }
        // A jump behind the end of the stack has a failure of its own, and not that of the module.
        guard state == .refusing else {
            return step.action == .ok || step.action == .done ? codes[index] ?? .permDenied : .ignore
        }
        return step.outcome.failure == failure ? codes[index] ?? .permDenied : .permDenied
    }
}

extension PAMModule {
    fileprivate func value(of key: String) -> String? {
        arguments.last { $0.hasPrefix(key + "=") }.map { String($0.dropFirst(key.count + 1)) }
    }
}

/// The entries that were called, in order.
private final class CallList: Sendable {
    private let calls = Mutex<[Int]>([])

    var all: [Int] { calls.withLock(\.self) }

    func append(_ index: Int) { calls.withLock { $0.append(index) } }
}

/// A module that returns a code of PAM.
private struct ReplayedModule: ImmediateLoginModule {
    private let code: PAMCode?
    private let outcome: Outcome
    private let index: Int
    private let calls: CallList

    init(_ code: PAMCode?, index: Int, calls: CallList) {
        (self.code, self.index, self.calls) = (code, index, calls)
        outcome = Outcome.all.first { PAMCode($0) == code } ?? .failure(.internalError)
    }

    init(realm: any Realm, options: ModuleOptions) throws(BadModule) { throw BadModule("can be created only in code") }

    /// Returns the table of a server, in which a code that no outcome stands for takes the place of its outcome.
    ///
    /// libpam counts a code that it does not define as a failure for every control.
    func table(of control: PAMControl) -> ActionTable {
        var table = control.table
        if PAMCode(outcome) != code { table[outcome] = code.map { control[$0] } ?? .bad }
        return table
    }

    func authenticateUser(_ attempt: LoginAttempt) throws(LoginFault) -> Verdict {
        calls.append(index)
        if let failure = outcome.failure { return .failed(failure) }
        return outcome == .success ? attempt.commit(groups: []) : .ignored
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
