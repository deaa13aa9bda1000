// SPDX-License-Identifier: Apache-2.0

package import RealmKit

/// The call of a module that decided a refused login, and the fewest answers by which the login would have been granted.
package struct RefusalExplanation: Sendable {
    /// The change of answers that would have granted the login.
    package enum Change: Sendable {
        /// The name of each module with another answer; empty if the modules granted, and one failed later.
        case answers([(name: String, outcome: Outcome)])
        /// No answers of the modules grant a login.
        case impossible
        /// The stack is too large for a proof.
        case unknown
    }

    /// The call that decided; nil if no answer decided.
    package let step: LoginStep?
    /// The module of the call, as in lists of answers.
    package let name: String
    /// The place of the module in the configuration; empty if it is not known.
    package let place: String
    package let change: Change
    /// The line about a refusal that no answer decided.
    private let undecided: String?

    /// Explains a login that its modules have refused; nil for other logins.
    package init?(_ report: LoginReport) {
        guard let refusal = report.refusal, !report.isLocked, let stack = report.stack else { return nil }
        let isLate = report.steps.contains { $0.phase == .commit }
        let last = report.steps.last { $0.phase == .login }?.index ?? 0
        let boundary = stack.entries[..<last].lastIndex { $0.level < 0 } ?? -1
        let part = report.steps.filter { $0.phase == .login && $0.index > boundary }
        let reason = part.allSatisfy { $0.outcome == .ignored } ? "all have ignored the login" : "no answer counts"
        undecided =
            switch refusal {
            case .allIgnored where isLate: "no module has completed the login in its commit"
            case .allIgnored where boundary >= 0:
                "the modules before \(stack.entries[boundary].name) granted, and none after it has decided: \(reason)"
            case .allIgnored: "no module has decided: \(reason)"
            case .noUserEstablished: "no module that has named the user has completed the login in its commit"
            case .module, .emptyStack, .locked: nil
            }
        if case .module(let index, let phase, _) = refusal {
            step = report.steps.first { $0.index == index && $0.phase == phase }
        } else {
            step = nil
        }
        name = step.map { stack.answerName(of: $0.index) } ?? ""
        place = step.map { stack.entries[$0.index].place } ?? ""
        guard let proof = try? StackProof(StackModel(stack)) else {
            change = .unknown
            return
        }
        let outcomes = report.steps.filter { $0.phase == .login }.map { ($0.index, $0.outcome) }
        let changed = proof.smallestChange(of: Dictionary(outcomes) { first, _ in first })
        change =
            changed.map { outcomes in
                .answers(outcomes.sorted { $0.key < $1.key }.map { (stack.answerName(of: $0.key), $0.value) })
            } ?? .impossible
    }

    /// The explanation for an administrator, in one or two lines.
    package var lines: [String] {
        var lines: [String] = []
        if let step {
            let phase = step.phase == .commit ? " in its commit" : ""
            let control = place.isEmpty ? step.control : "\(step.control) at \(place)"
            lines.append("decided by \(name) (\(control)): \(step.outcome)\(phase) \(step.effect)")
        } else if let undecided {
            lines.append(undecided)
        }
        switch change {
        case .unknown: break
        case .answers(let answers) where answers.isEmpty: break
        case .answers(let answers):
            lines.append("granted, if \(answers.map { "\($0.name)=\($0.outcome)" }.joined(separator: " "))")
        case .impossible: lines.append("no answers of the modules grant a login in this stack")
        }
        return lines
    }
}

extension LoginStep {
    /// The effect of the outcome, if it decided a refusal.
    fileprivate var effect: String {
        switch action {
        case .ok, .done: "counts, but only a success grants a login"
        case .bad: "counts as a failure"
        case .die: "counts as a failure, and ends the stack"
        case .ignore, .reset: "does not count, and nothing else does"
        case .jump where state == .refusing: "skips more lines than follow"
        case .jump: "does not count, and nothing else does"
        }
    }
}
