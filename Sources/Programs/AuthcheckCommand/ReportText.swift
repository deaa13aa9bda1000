// SPDX-License-Identifier: Apache-2.0

internal import CommandSupport
internal import RealmKit

/// The report of a login as text for administrators.
enum ReportText {
    static func text(_ report: LoginReport, trace: Bool) -> String {
        var lines: [String] = []
        if let identity = report.identity {
            lines.append("accepted: \(identity.username) in realm \(report.realm)")
            lines += Table.lines(identity.subject.principals.map { ["  " + $0.kind.rawValue, $0.name] })
            lines += Table.lines(
                identity.attributes.flatMap { attribute in attribute.values.map { ["  " + attribute.name, $0] } }
            )
        } else if let refusal = report.refusal {
            lines.append(
                "refused: \(report.username) in realm \(report.realm): \(reason(refusal, steps: report.steps))"
            )
        }
        if trace { lines += ["", self.trace(report)] }
        return lines.map(Printable.text).joined(separator: "\n")
    }

    private static func reason(_ refusal: Refusal, steps: [LoginStep]) -> String {
        switch refusal {
        case .module(let index, let phase, let failure):
            let step = steps.first { $0.index == index && $0.phase == phase }
            let detail = step?.fault.map { ": \(Printable.line($0.log))" } ?? ""
            return "\(failure.words) (\(step?.module ?? "module \(index)")\(detail))"
        case .allIgnored: return "every module ignored this user"
        case .emptyStack: return "the login context of the realm has no modules"
        case .noUserEstablished: return "the module that identified the user did not complete the login"
        case .locked: return "locked: too many failed logins; see docs/lockout.md for how to clear the lock"
        }
    }

    private static func trace(_ report: LoginReport) -> String {
        let head = ["#", "module", "control", "phase", "outcome", "action", "state", "time"]
        let rows = report.steps.map { step in
            [
                "\(step.index)", step.module, step.control, step.phase.name, step.outcome.description,
                step.action.description, step.state.word, Self.time(step.duration),
            ]
        }
        let faults = report.steps.compactMap { step in
            step.fault.map { Printable.line("\(step.index) \(step.module) \(step.phase.name): \($0.log)") }
        }
        let names = Dictionary(report.steps.map { ($0.index, $0.module) }) { first, _ in first }
        let notes = report.notes.map { Printable.line("\($0.index) \(names[$0.index] ?? ""): \($0.text)") }
        return (Table.lines([head] + rows) + notes + faults).joined(separator: "\n")
    }

    private static func time(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
        if microseconds < 10_000 { return "\(microseconds) us" }
        return microseconds < 10_000_000 ? "\(microseconds / 1000) ms" : "\(microseconds / 1_000_000) s"
    }
}

extension LoginStep.State {
    var word: String {
        switch self {
        case .undecided: "undecided"
        case .granting: "granting"
        case .refusing: "refusing"
        }
    }
}

extension LoginFailure {
    /// The failure in words, such as "wrong credentials".
    var words: String { code.split(separator: "-").joined(separator: " ") }
}
