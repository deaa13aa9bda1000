// SPDX-License-Identifier: Apache-2.0

package import AccessControl
internal import RealmConfiguration
package import RealmKit

/// The texts of log lines.
package enum LogText {
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

    /// Returns a space and the rule that refuses a request: its place in realms.conf, and what it applies to, such as
    /// `rule="realms.conf:8:9 /staff"`; `rule=none` if no rule matches.
    package static func rule(_ rule: ProtectRule?) -> String { LogField.rule.text(ruleName(rule)) }

    /// Returns a space and the rule that refuses a request, with what it needs and the user has; empty for an allowed
    /// request.
    package static func refusal(_ result: AccessResult) -> String {
        guard result.decision.isRefusal else { return "" }
        guard case .forbidden(let user) = result.decision, let refusing = result.rule?.rule else {
            return rule(result.rule?.rule)
        }
        guard let user else {
            return rule(refusing) + LogField.deniedBy.text(refusing.access == .nobody ? "nobody" : "networks")
        }
        let (needs, has) = refusing.shortfall(of: user)
        return rule(refusing) + LogField.needs.text(needs) + LogField.has.text(has)
    }

    /// Returns the rule as ``rule(_:)`` does, without the name of the field.
    package static func ruleName(_ rule: ProtectRule?) -> String {
        guard let rule else { return "none" }
        return quoted(([rule.place, rule.target] + rule.methods).filter { !$0.isEmpty }.joined(separator: " "))
    }

    /// Returns a text in quotes, with all but visible ASCII escaped, so that a client cannot forge log lines.
    package static func quoted(_ text: String) -> String {
        var result: [UInt8] = []
        result.reserveCapacity(text.utf8.count + 2)
        appendQuoted(text, to: &result)
        return String(decoding: result, as: UTF8.self)
    }

    /// Appends a text in quotes, as ``quoted(_:)`` returns it.
    package static func appendQuoted(_ text: String, to line: inout [UInt8]) {
        line.append(UInt8(ascii: "\""))
        appendEscaped(text, to: &line)
        line.append(UInt8(ascii: "\""))
    }

    /// Appends the text between the quotes of ``quoted(_:)``.
    package static func appendEscaped(_ text: String, to line: inout [UInt8]) {
        let isPlain = text.utf8.allSatisfy { byte in
            byte >= 0x20 && byte <= 0x7E && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
        }
        guard !isPlain else { return line += text.utf8 }
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": line += [UInt8(ascii: "\\"), UInt8(ascii: scalar)]
            case " "..."~": line.append(UInt8(ascii: scalar))
            default: appendEscape(of: scalar, to: &line)
            }
        }
    }

    /// Appends an escape sequence such as `\u{301}`, by single bytes for speed: a path may contain thousands of them.
    private static func appendEscape(of scalar: Unicode.Scalar, to result: inout [UInt8]) {
        result += "\\u{".utf8
        var shift = max(0, (31 - scalar.value.leadingZeroBitCount) / 4 * 4)
        while shift >= 0 {
            let digit = UInt8(truncatingIfNeeded: scalar.value >> UInt32(shift) & 15)
            result.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            shift -= 4
        }
        result.append(UInt8(ascii: "}"))
    }
}
