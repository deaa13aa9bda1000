// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import Synchronization

/// The stack entries that a recorded case of Linux-PAM describes.
///
/// The case is a list of `CONTROL OUTCOME`, `include{...}` and `substack{...}`, separated by `;`.
struct RecordedPAMStack {
    /// The answer of a module to the engine.
    private enum Answer {
        case given(Outcome)
        /// The module cannot be loaded or does not have the function, so it is not called.
        case absent
    }

    /// The error of a case with an invalid control, which a parser of pam.d files would reject.
    struct MalformedControl: Error {
        let text: String
    }

    private(set) var entries: [LoginStack.Entry] = []
    let calls = CallList()
    private var rest: Substring
    private var modules = 0

    init(_ text: some StringProtocol) throws(MalformedControl) {
        rest = Substring(text)
        try readEntries(level: 0)
    }

    // MARK: Reading

    private mutating func readEntries(level: Int) throws(MalformedControl) {
        while true {
            skipSpaces()
            guard let first = rest.first, first != "}" else { return }
            if first == ";" {
                rest.removeFirst()
            } else if try !readSubstack(level: level) {
                try readModule(level: level)
            }
        }
    }

    private mutating func readSubstack(level: Int) throws(MalformedControl) -> Bool {
        for (word, depth) in [("include", level), ("substack", level + 1)] {
            if rest.hasPrefix("\(word)missing") || rest.hasPrefix("\(word) missing") {
                rest = rest.drop { $0 != ";" && $0 != "}" }
                // For a missing file libpam adds an entry that always fails and has no module.
                entries.append(entry(ActionTable(success: .bad, ignored: .bad, failure: .bad), .absent, level))
                return true
            }
            guard rest.hasPrefix("\(word){") else { continue }
            rest = rest.dropFirst(word.count + 1)
            if depth > level { entries.append(.substack("substack", level: level)) }
            try readEntries(level: depth)
            guard rest.first == "}" else { throw MalformedControl(text: String(rest)) }
            rest.removeFirst()
            return true
        }
        return false
    }

    private mutating func readModule(level: Int) throws(MalformedControl) {
        let end = rest.firstIndex { $0 == ";" || $0 == "}" } ?? rest.endIndex
        let item = rest[..<end]
        rest = rest[end...]
        let cut = (item.first == "[" ? item.firstIndex(of: "]").map(item.index(after:)) : item.firstIndex(of: " "))
        guard let cut else { throw MalformedControl(text: String(item)) }
        // The codes of other functions are ignored, such as `setcred` in `success,setcred=cred_err`.
        let code = item[cut...].drop { $0 == " " }.prefix { $0 != "," && $0 != " " }
        modules += 1
        let number = modules
        let answer: Answer = code == "missing" || code == "nosym" ? .absent : .given(Self.outcome(code))
        let name = code == "missing" || code == "nosym" ? "module_unknown" : String(code)
        entries.append(entry(try Self.table(item[..<cut], answering: name), answer, level, number))
    }

    private mutating func skipSpaces() { rest = rest.drop { $0 == " " } }

    private func entry(_ table: ActionTable, _ answer: Answer, _ level: Int, _ number: Int? = nil) -> LoginStack.Entry {
        let module =
            switch answer {
            case .given(let outcome): AnsweringModule(outcome: outcome, number: number, calls: calls)
            case .absent: AnsweringModule(outcome: .failure(.internalError), number: nil, calls: calls)
            }
        return LoginStack.Entry(module, table, control: "[]", name: "m\(number ?? 0)", level: level)
    }

    // MARK: Meaning

    private static let words: [Substring: [Substring: Action]] = [
        "required": ["success": .ok, "new_authtok_reqd": .ok, "ignore": .ignore, "default": .bad],
        "requisite": ["success": .ok, "new_authtok_reqd": .ok, "ignore": .ignore, "default": .die],
        "sufficient": ["success": .done, "new_authtok_reqd": .done, "default": .ignore],
        "optional": ["success": .ok, "new_authtok_reqd": .ok, "default": .ignore],
    ]

    private static let actions: [Substring: Action] = [
        "ok": .ok, "done": .done, "bad": .bad, "die": .die, "ignore": .ignore, "reset": .reset,
        "1": .jump(1), "2": .jump(2), "3": .jump(3),
    ]

    private static let codes: Set<Substring> = [
        "success", "open_err", "symbol_err", "service_err", "system_err", "buf_err", "perm_denied", "auth_err",
        "cred_insufficient", "authinfo_unavail", "user_unknown", "maxtries", "new_authtok_reqd", "acct_expired",
        "session_err", "cred_unavail", "cred_expired", "cred_err", "no_module_data", "conv_err", "authtok_err",
        "authtok_recover_err", "authtok_lock_busy", "authtok_disable_aging", "try_again", "ignore", "abort",
        "authtok_expired", "module_unknown", "bad_item", "conv_again", "incomplete", "default",
    ]

    /// Returns the actions of a control.
    ///
    /// An `ActionTable` has one action for all failures. The module has only one code, so that code's action is used.
    private static func table(
        _ control: Substring,
        answering code: String
    ) throws(MalformedControl) -> ActionTable {
        var meant = words[control] ?? [:]
        if control.first == "[" {
            for pair in control.dropFirst().dropLast().split(separator: " ") {
                let parts = pair.split(separator: "=", maxSplits: 1)
                guard parts.count == 2, codes.contains(parts[0]), let action = actions[parts[1]] else {
                    throw MalformedControl(text: String(control))
                }
                meant[parts[0]] = action
            }
        }
        let action = { (code: Substring) -> Action in
            // libpam counts a return code that PAM does not define, such as -1 or 77, as a failure for every control.
            codes.contains(code) ? meant[code] ?? meant["default"] ?? .bad : .bad
        }
        return ActionTable(
            success: action("success"),
            ignored: action("ignore"),
            failure: action(Substring(code))
        )
    }

    private static func outcome(_ code: Substring) -> Outcome {
        switch code {
        case "success": .success
        case "ignore": .ignored
        case "auth_err": .failure(.wrongCredentials)
        case "user_unknown": .failure(.unknownUser)
        case "cred_unavail": .failure(.missingCredential)
        case "cred_err": .failure(.unusableCredential)
        case "maxtries": .failure(.locked)
        case "acct_expired": .failure(.accountExpired)
        case "new_authtok_reqd": .failure(.credentialExpired)
        case "perm_denied": .failure(.permissionDenied)
        case "authinfo_unavail": .failure(.unavailable)
        default: .failure(.internalError)
        }
    }
}

/// The numbers of the modules that were called, in order.
final class CallList: Sendable {
    private let numbers = Mutex<[Int]>([])

    var all: [Int] { numbers.withLock { $0 } }

    func append(_ number: Int) { numbers.withLock { $0.append(number) } }
}

/// A module that always has the same outcome.
private struct AnsweringModule: ImmediateLoginModule {
    let outcome: Outcome
    /// The number of the module in the case; nil if its calls are not recorded.
    let number: Int?
    let calls: CallList

    init(outcome: Outcome, number: Int?, calls: CallList) {
        self.outcome = outcome
        self.number = number
        self.calls = calls
    }

    init(realm: any Realm, options: ModuleOptions) throws(BadModule) { throw BadModule("can be created only in code") }

    func authenticateUser(_ attempt: LoginAttempt) throws(LoginFault) -> Verdict {
        if let number { calls.append(number) }
        if let failure = outcome.failure { return .failed(failure) }
        return outcome == .success ? attempt.commit(groups: []) : .ignored
    }
}
