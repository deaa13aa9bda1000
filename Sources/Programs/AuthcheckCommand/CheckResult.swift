// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import CommandSupport
internal import Prover
package import RealmKit

enum CheckResult {
    case login(LoginReport)
    /// A login with given answers of the modules, of which none was called.
    case answers(LoginReport)
    /// The certificate was rejected, so no login began.
    case rejectedCertificate(LoginFault, realm: String)

    var status: ExitStatus {
        switch self {
        case .login(let report), .answers(let report): report.refusal.map { ExitStatus($0.failure) } ?? .accepted
        case .rejectedCertificate(let fault, _): ExitStatus(fault.kind)
        }
    }

    func text(_ options: AuthcheckOptions) -> String {
        switch self {
        case .login(let report):
            options.json
                ? ReportJSON.text(report)
                : ReportText.text(report, trace: options.trace, whyNot: options.whyNot)
        case .answers(let report):
            options.json
                ? ReportJSON.text(report, isHypothetical: true)
                : "would be \(ReportText.text(report, trace: true))"
        case .rejectedCertificate(let fault, let realm):
            options.json
                ? ReportJSON.text(rejectedCertificate: fault, realm: realm)
                : Printable.line("refused: the certificate in realm \(realm): \(fault.kind.words) (\(fault.log))")
        }
    }
}

enum ReportText {
    static func text(_ report: LoginReport, trace: Bool, whyNot: Bool = false) -> String {
        var lines: [String] = []
        if let identity = report.identity {
            lines.append("accepted: \(identity.username) in realm \(report.realm)")
            lines += Table.lines(identity.subject.principals.map { ["  " + $0.kind.rawValue, $0.name] })
            lines += Table.lines(
                identity.attributes.flatMap { attribute in attribute.values.map { ["  " + attribute.name, $0] } }
            )
        } else if let refusal = report.refusal {
            let reason = reason(refusal, steps: report.steps)
            lines.append("refused: \(report.username) in realm \(report.realm): \(reason)")
        }
        let explanation = trace || whyNot ? RefusalExplanation(report)?.lines ?? [] : []
        if trace { lines += ["", self.trace(report)] }
        lines += explanation.map(Printable.line)
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
        let microseconds = duration.nanoseconds / 1000
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
    package var words: String { code.split(separator: "-").joined(separator: " ") }
}

enum ReportJSON {
    static func text(_ report: LoginReport, isHypothetical: Bool = false) -> String {
        let explanation = RefusalExplanation(report)
        var module: String?
        if case .module(let index, _, _)? = report.refusal {
            module = report.steps.first { $0.index == index }?.module
        }
        let principals = report.identity?.subject.principals.map { principal -> JSONValue in
            ["kind": .text(principal.kind.rawValue), "name": .text(principal.name)]
        }
        let object: JSONValue = [
            "realm": .text(report.realm),
            "user": .text(report.identity?.username.text ?? report.username.text),
            (isHypothetical ? "wouldBeAccepted" : "accepted"): .boolean(report.identity != nil),
            "reason": (report.refusal?.code).map(JSONValue.text),
            "module": module.map(JSONValue.text),
            "place": explanation.flatMap { $0.place.isEmpty ? nil : .text($0.place) },
            "smallestChange": explanation?.change.json,
            "principals": principals.map(JSONValue.array),
            "attributes": (report.identity?.attributes.valuesByName).map(JSONValue.lists),
            "steps": .array(report.steps.map(Self.json)),
            "nanoseconds": .number(Int(clamping: report.duration.nanoseconds)),
        ]
        return object.text(.terminal)
    }

    private static func json(_ step: LoginStep) -> JSONValue {
        [
            "index": .number(step.index),
            "module": .text(step.module),
            "control": .text(step.control),
            "phase": .text(step.phase.name),
            "outcome": .text(step.outcome.description),
            "action": .text(step.action.description),
            "state": .text(step.state.word),
            "nanoseconds": .number(Int(clamping: step.duration.nanoseconds)),
            "fault": (step.fault?.log).map(JSONValue.text),
        ]
    }

    static func text(rejectedCertificate fault: LoginFault, realm: String) -> String {
        let object: JSONValue = [
            "realm": .text(realm), "accepted": .boolean(false), "reason": .text(fault.kind.code),
            "fault": .text(fault.log),
        ]
        return object.text(.terminal)
    }
}

extension RefusalExplanation.Change {
    /// The answers by module; nil if there are none.
    fileprivate var json: JSONValue? {
        guard case .answers(let answers) = self else { return nil }
        return .sorted(answers.map { ($0.name, .text("\($0.outcome)")) })
    }
}

extension Refusal {
    var code: String {
        switch self {
        case .module(_, _, let failure): failure.code
        case .allIgnored: "all-ignored"
        case .emptyStack: "empty-stack"
        case .noUserEstablished: "no-user-established"
        case .locked: "locked"
        }
    }
}
