// SPDX-License-Identifier: Apache-2.0

package import RealmKit

/// The answers of a stack's modules as text, such as `A=success A#2=unavailable`: an example of a proof, or those of a login in
/// the log.
package struct ModuleAnswers: Sendable {
    /// The reason why a text cannot be used.
    package struct Fault: Error {
        package let text: String
    }

    private let stack: LoginStack
    /// The outcomes by entry.
    private let outcomes: [Int: Outcome]
    /// The names that the stack does not have; an example for two stacks has the modules of both.
    package let unknownNames: [String]

    /// The names of the modules of a stack.
    package static func names(in stack: LoginStack) -> [String] {
        stack.entries.indices.filter { stack.entries[$0].hasModule }.map(stack.answerName)
    }

    package init(_ text: String, for stack: LoginStack) throws(Fault) {
        let names = stack.entries.indices.map { stack.entries[$0].hasModule ? stack.answerName(of: $0) : "" }
        var outcomes: [Int: Outcome] = [:]
        var unknown: [String] = []
        // A name may have blanks.
        var rest = text.split(separator: " ")[...]
        while let first = rest.first {
            let last = rest.firstIndex { $0.contains("=") } ?? rest.startIndex
            let word = rest[...last].joined(separator: " ")
            rest = rest[(last + 1)...]
            guard let equals = word.lastIndex(of: "="), equals > word.startIndex else {
                throw Fault(text: "\(first) is no answer of a module: write NAME=ANSWER, such as LoginModule=success")
            }
            let (name, answer) = (word[..<equals], word[word.index(after: equals)...])
            guard let outcome = Outcome.all.first(where: { $0.description.utf8.elementsEqual(answer.utf8) }) else {
                let known = Outcome.all.map(\.description).joined(separator: ", ")
                throw Fault(text: "\(word): the answers of modules are \(known)")
            }
            guard let entry = names.firstIndex(where: { $0.utf8.elementsEqual(name.utf8) }) else {
                unknown.append(String(name))
                continue
            }
            if let only = stack.entries[entry].onlyOutcome, only != outcome {
                throw Fault(text: "\(word): the only answer of this module is \(only)")
            }
            guard outcomes.updateValue(outcome, forKey: entry) == nil else {
                throw Fault(text: "\(name) has two answers")
            }
        }
        (self.stack, self.outcomes, unknownNames) = (stack, outcomes, unknown)
    }

    /// Evaluates the stack with the answers by the engine, without a call of its modules.
    ///
    /// A module without an answer gives wrong credentials, unless it has only one answer.
    package func login(_ request: LoginRequest) -> LoginReport {
        let entries = stack.entries.enumerated().map { index, entry in
            entry.answering(outcomes[index] ?? .failure(.wrongCredentials))
        }
        let answered = LoginStack(name: stack.name, entries, clock: NoClock())
        guard let report = answered.loginNow(request, measuringDurations: false) else {
            preconditionFailure("modules with given answers never wait")
        }
        return report
    }

    /// Returns the first module that a login has reached and that has no answer; nil if there is none.
    package func firstWithoutAnswer(in report: LoginReport) -> String? {
        report.steps.first { $0.phase == .login && outcomes[$0.index] == nil }.map { stack.answerName(of: $0.index) }
    }
}

extension LoginStack.Entry {
    /// Returns the entry with a module that always gives one answer, unless it has no module, or one with a single answer.
    func answering(_ outcome: Outcome) -> Self {
        guard hasModule, onlyOutcome == nil else { return self }
        var entry = Self(AnsweringModule(outcome), table, control: control, name: name, level: level)
        entry.place = place
        return entry
    }
}

private struct AnsweringModule: ImmediateLoginModule {
    let outcome: Outcome

    init(_ outcome: Outcome) { self.outcome = outcome }

    init(realm: any Realm, options: ModuleOptions) throws(BadModule) { outcome = .failure(.wrongCredentials) }

    func authenticateUser(_ attempt: LoginAttempt) throws(LoginFault) -> Verdict {
        if let failure = outcome.failure { return .failed(failure) }
        return outcome == .success ? attempt.commit() : .ignored
    }
}
