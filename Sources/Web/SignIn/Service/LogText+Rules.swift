// SPDX-License-Identifier: Apache-2.0

package import AccessControl
package import Bytes

extension LogText {
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
}
