// SPDX-License-Identifier: Apache-2.0

package import Bytes

extension LogText {
    /// The length of a list of answers in bytes at which it is cut off.
    private static let maximumAnswers = 512

    /// Returns a space and the reason why a login was rejected, with the log text of the failed module and the answers of all
    /// modules; empty if the login was accepted.
    package static func reason(_ report: LoginReport) -> String {
        report.refusal.map { code(of: $0, report) + answers(report) } ?? ""
    }

    private static func code(of refusal: Refusal, _ report: LoginReport) -> String {
        switch refusal {
        case .allIgnored: return " all-ignored" + outage(report)
        case .emptyStack: return " empty-stack"
        case .noUserEstablished: return " no-user-established"
        case .locked: return " locked" + outage(report)
        case .module(let index, let phase, let failure):
            let fault = report.steps.first { $0.index == index && $0.phase == phase }?.fault
            let message = fault.map { " \(quoted($0.log))" } ?? ""
            let reason = " \(failure.code) module=\(index) phase=\(phase.name)\(message)"
            return failure.isTemporary ? reason : reason + outage(report)
        }
    }

    /// Returns a text about the unavailable or overloaded module; empty if the login is not reported as unavailable.
    private static func outage(_ report: LoginReport) -> String {
        guard report.isUnavailable,
            let step = report.steps.first(where: { $0.phase == .login && $0.outcome.failure?.isTemporary == true })
        else { return "" }
        return " \(step.outcome) module=\(step.index)" + (step.fault.map { " \(quoted($0.log))" } ?? "")
    }

    /// Returns the answers of the modules that a login reached, as in ` answers="A=wrong-credentials B=success"`, with `...` in
    /// place of those that are too many; empty for a locked login, in which they do not decide, and for one that the client
    /// ended.
    private static func answers(_ report: LoginReport) -> String {
        guard !report.isLocked, !report.wasCancelled else { return "" }
        var answers: [String] = []
        var length = 0
        for step in report.steps where step.phase == .login {
            let answer = "\(step.stack.answerName(of: step.index))=\(step.outcome)"
            length += answer.utf8.count + 1
            guard length <= maximumAnswers else {
                answers.append("...")
                break
            }
            answers.append(answer)
        }
        return answers.isEmpty ? "" : " answers=\(quoted(answers.joined(separator: " ")))"
    }
}
