// SPDX-License-Identifier: Apache-2.0

internal import CommandSupport
internal import RealmKit

enum CheckResult {
    case login(LoginReport)
    /// The certificate was rejected, so no login began.
    case rejectedCertificate(LoginFault, realm: String)

    var status: ExitStatus {
        switch self {
        case .login(let report): report.refusal.map { ExitStatus($0.failure) } ?? .accepted
        case .rejectedCertificate(let fault, _): ExitStatus(fault.kind)
        }
    }

    func text(_ options: AuthcheckOptions) -> String {
        switch self {
        case .login(let report):
            options.json ? ReportJSON.text(report) : ReportText.text(report, trace: options.trace)
        case .rejectedCertificate(let fault, let realm):
            options.json
                ? ReportJSON.text(rejectedCertificate: fault, realm: realm)
                : Printable.line("refused: the certificate in realm \(realm): \(fault.kind.words) (\(fault.log))")
        }
    }
}

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

enum ReportJSON {
    private struct Report: Encodable {
        let realm: String
        let user: String
        let accepted: Bool
        let reason: String?
        let module: String?
        let principals: [RealmAPIAnswer.Principal]?
        let attributes: [String: [String]]?
        let steps: [Step]
        let nanoseconds: Int64
    }

    private struct Step: Encodable {
        let index: Int
        let module: String
        let control: String
        let phase: String
        let outcome: String
        let action: String
        let state: String
        let nanoseconds: Int64
        let fault: String?
    }

    private struct RejectedCertificate: Encodable {
        let realm: String
        let accepted = false
        let reason: String
        let fault: String
    }

    static func text(_ report: LoginReport) -> String {
        let steps = report.steps
        var module: String?
        if case .module(let index, _, _)? = report.refusal {
            module = steps.first { $0.index == index }?.module
        }
        let object = Report(
            realm: report.realm,
            user: report.identity?.username.text ?? report.username.text,
            accepted: report.identity != nil,
            reason: report.refusal?.code,
            module: module,
            principals: report.identity?.subject.principals.map { .init(kind: $0.kind.rawValue, name: $0.name) },
            attributes: report.identity?.attributes.valuesByName,
            steps: steps.map { step in
                Step(
                    index: step.index,
                    module: step.module,
                    control: step.control,
                    phase: step.phase.name,
                    outcome: step.outcome.description,
                    action: step.action.description,
                    state: step.state.word,
                    nanoseconds: step.duration.wholeNanoseconds,
                    fault: step.fault?.log
                )
            },
            nanoseconds: report.duration.wholeNanoseconds
        )
        return PrintableJSON.text(object, orElse: internalError)
    }

    static func text(rejectedCertificate fault: LoginFault, realm: String) -> String {
        let object = RejectedCertificate(realm: realm, reason: fault.kind.code, fault: fault.log)
        return PrintableJSON.text(object, orElse: internalError)
    }

    /// The result if encoding failed: it must not be an acceptance.
    static let internalError = #"{"accepted":false,"reason":"internal-error"}"#
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

extension Duration {
    var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? .max : whole &+ attoseconds / 1_000_000_000
    }
}
