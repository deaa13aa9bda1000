// SPDX-License-Identifier: Apache-2.0

import RealmKit
import SeededRandom
import Synchronization

/// A random stack of flags, tables and sub-stacks, whose modules answer as a script says.
struct RandomStack {
    /// The answers that its tables tell apart.
    static let answers: [Outcome] = [.success, .ignored, .failure(.wrongCredentials), .failure(.unavailable)]

    private(set) var entries: [LoginStack.Entry] = []
    private var modules = 0
    let script: Script
    /// The beginning of the names of its modules.
    private let prefix: String

    /// True if its first module takes user names from certificates.
    private let namesUsers: Bool

    /// Creates a stack, which may have a second part behind a boundary.
    init(
        modules count: Int,
        prefix: String = "M",
        script: Script = Script(),
        namesUsers: Bool = false,
        hasParts: Bool = false,
        using random: inout Random
    ) {
        (self.script, self.prefix, self.namesUsers) = (script, prefix, namesUsers)
        var isWhole = hasParts
        while modules < count {
            add(level: 0, room: count - modules, using: &random)
            guard isWhole, modules < count, 2 * modules >= count else { continue }
            entries.append(.boundary("account"))
            isWhole = false
        }
    }

    private mutating func add(level: Int, room: Int, using random: inout Random) {
        guard level < 3, room > 1, random.below(6) == 0 else {
            entries.append(module(level: level, using: &random))
            modules += 1
            return
        }
        entries.append(.substack("substack", level: level))
        let count = 1 + random.below(room)
        let end = modules + count
        while modules < end { add(level: level + 1, room: end - modules, using: &random) }
    }

    private func module(level: Int, using random: inout Random) -> LoginStack.Entry {
        let name = "\(prefix)\(modules)"
        if namesUsers, modules == 0 {
            return .init(
                NamingModule(name: name, script: script),
                .init(.required),
                control: "",
                name: name,
                level: level
            )
        }
        switch random.below(12) {
        case 0: return .init(AlwaysSucceeds(), .init(.optional), control: "", name: name, level: level)
        case 1:
            let table = Self.table(using: &random)
            return .init(AlwaysFails(), table, control: "", name: name, level: level)
        default: break
        }
        let table = random.below(2) == 0 ? ActionTable(random.pick(ControlFlag.allCases)) : Self.table(using: &random)
        return .init(Scripted(name: name, script: script), table, control: "", name: name, level: level)
    }

    private static func table(using random: inout Random) -> ActionTable {
        let actions: [Action] = [.ok, .ok, .done, .bad, .die, .ignore, .ignore, .reset, .jump(1), .jump(2)]
        var table = ActionTable(
            success: random.pick(actions),
            ignored: random.pick(actions),
            failure: random.pick(actions)
        )
        table[.failure(.unavailable)] = random.pick(actions)
        return table
    }

    /// An entry whose module always succeeds.
    static func permit(_ flag: ControlFlag) -> LoginStack.Entry {
        .init(AlwaysSucceeds(), .init(flag), control: "", name: "permit", level: 0)
    }

    /// Entries of which the first at level 0 with an action for wrong credentials has another one; nil without one.
    static func replacing(
        _ entries: [LoginStack.Entry],
        _ action: Action,
        by other: Action,
        _ script: Script
    ) -> [LoginStack.Entry]? {
        let wrong = Outcome.failure(.wrongCredentials)
        guard
            let index = entries.firstIndex(where: {
                $0.hasModule && $0.level == 0 && $0.onlyOutcome == nil && $0.table[wrong] == action
            })
        else { return nil }
        var (entries, table, name) = (entries, entries[index].table, entries[index].name)
        table[wrong] = other
        entries[index] = .init(Scripted(name: name, script: script), table, control: "", name: name, level: 0)
        return entries
    }

    /// The stack with one entry that ends the login on wrong credentials.
    func refusing(_ index: Int) -> [LoginStack.Entry] {
        var (entries, table, name) = (entries, entries[index].table, entries[index].name)
        table[.failure(.wrongCredentials)] = .die
        let module = Scripted(name: name, script: script)
        entries[index] = .init(module, table, control: "", name: name, level: entries[index].level)
        return entries
    }

    /// The stack with one entry whose answers are all ignored.
    func ignoring(_ index: Int) -> [LoginStack.Entry] {
        var entries = entries
        let table = ActionTable(success: .ignore, failure: .ignore)
        let name = entries[index].name
        let module = Scripted(name: name, script: script)
        entries[index] = .init(module, table, control: "", name: name, level: entries[index].level)
        return entries
    }

    /// The answers of modules by their names; it goes through all combinations that logins can tell apart.
    final class Script: Sendable {
        private struct State {
            /// The modules in the order in which logins reached them, with the number of the answer.
            var asked: [(module: String, answer: Int)] = []
            var fixed: [String: Outcome] = [:]
        }

        private let state = Mutex(State())

        /// Begins with the first combination.
        func begin() { state.withLock { $0 = State() } }

        /// Fixes the answers of some modules.
        func fix(_ fixed: [String: Outcome]) { state.withLock { $0.fixed = fixed } }

        func answer(_ module: String) -> Outcome {
            state.withLock { state in
                if let fixed = state.fixed[module] { return fixed }
                if let known = state.asked.first(where: { $0.module == module }) {
                    return RandomStack.answers[known.answer]
                }
                state.asked.append((module, 0))
                return RandomStack.answers[0]
            }
        }

        /// Goes on to the next combination; returns false after the last one.
        func advance() -> Bool {
            state.withLock { state in
                while let last = state.asked.popLast() {
                    guard last.answer + 1 < RandomStack.answers.count else { continue }
                    state.asked.append((last.module, last.answer + 1))
                    return true
                }
                return false
            }
        }
    }
}

/// A module whose answer the script knows.
private struct Scripted: ImmediateLoginModule {
    let name: String
    let script: RandomStack.Script

    init(name: String, script: RandomStack.Script) { (self.name, self.script) = (name, script) }
    init(realm: any Realm, options: ModuleOptions) throws(BadModule) { throw BadModule("can be created only in code") }

    func authenticateUser(_ attempt: LoginAttempt) throws(LoginFault) -> Verdict {
        verdict(script.answer(name), of: attempt)
    }
}

/// A module that takes user names from certificates, and whose answer the script knows.
private struct NamingModule: ImmediateLoginModule, CertificateNamingModule {
    let name: String
    let script: RandomStack.Script

    init(name: String, script: RandomStack.Script) { (self.name, self.script) = (name, script) }
    init(realm: any Realm, options: ModuleOptions) throws(BadModule) { throw BadModule("can be created only in code") }

    func username(ofCertificate certificate: [UInt8]) async throws(LoginFault) -> Username {
        throw LoginFault(.missingCredential, log: "there is no certificate")
    }

    func authenticateUser(_ attempt: LoginAttempt) throws(LoginFault) -> Verdict {
        verdict(script.answer(name), of: attempt)
    }
}

/// Modules that always have the same outcome, and say so.
private struct AlwaysSucceeds: ConstantLoginModule {
    var onlyOutcome: Outcome { .success }
    init() {}
    init(realm: any Realm, options: ModuleOptions) throws(BadModule) { self.init() }
    func authenticateUser(_ attempt: LoginAttempt) throws(LoginFault) -> Verdict { verdict(.success, of: attempt) }
}

private struct AlwaysFails: ConstantLoginModule {
    var onlyOutcome: Outcome { .failure(.permissionDenied) }
    init() {}
    init(realm: any Realm, options: ModuleOptions) throws(BadModule) { self.init() }
    func authenticateUser(_ attempt: LoginAttempt) throws(LoginFault) -> Verdict {
        verdict(onlyOutcome, of: attempt)
    }
}

private func verdict(_ outcome: Outcome, of attempt: LoginAttempt) -> Verdict {
    if let failure = outcome.failure { return .failed(failure) }
    return outcome == .success ? attempt.commit(groups: []) : .ignored
}
