// SPDX-License-Identifier: Apache-2.0

package import Bytes

extension LogText {
    /// Returns a space and the reason why a login was rejected, with the log text of the failed module; empty if the
    /// login was accepted.
    package static func reason(_ report: LoginReport) -> String {
        switch report.refusal {
        case nil: return ""
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
}
