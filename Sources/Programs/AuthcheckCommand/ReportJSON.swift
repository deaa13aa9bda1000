// SPDX-License-Identifier: Apache-2.0

internal import CommandSupport
internal import RealmKit

/// The report of a login as JSON: one object on one line.
enum ReportJSON {
    private struct Report: Encodable {
        let realm: String
        let user: String
        let accepted: Bool
        let reason: String?
        let module: String?
        let principals: [Principal]?
        let attributes: [String: [String]]?
        let steps: [Step]
        let nanoseconds: Int64
    }

    private struct Principal: Encodable {
        let kind: String
        let name: String
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
            principals: report.identity?.subject.principals.map { Principal(kind: $0.kind.rawValue, name: $0.name) },
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
        return encoded(object)
    }

    static func text(rejectedCertificate fault: LoginFault, realm: String) -> String {
        encoded(RejectedCertificate(realm: realm, reason: fault.kind.code, fault: fault.log))
    }

    private static func encoded(_ object: some Encodable) -> String {
        do {
            return try PrintableJSON.text(object)
        } catch {
            // Encoding strings and numbers does not fail. If it did, the result must not be an acceptance.
            return #"{"accepted":false,"reason":"internal-error"}"#
        }
    }
}

extension Refusal {
    /// The reason, as a code for programs.
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
    /// The number of whole nanoseconds, at most `Int64.max`.
    var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? .max : whole &+ attoseconds / 1_000_000_000
    }
}
