// SPDX-License-Identifier: Apache-2.0

public import RealmKit

/// One entry of a table of outcomes, such as `unavailable=ignore` in `[success=done unavailable=ignore default=die]`.
///
/// A table can replace the control flag of a module in a `login` block of realms.conf. Source: pam.conf(5).
public struct OutcomeRule: Sendable, Hashable {
    /// The outcomes of the entry; empty for `default`, which stands for all outcomes that the table does not name.
    public let outcomes: [Outcome]
    /// The action for these outcomes.
    public let action: Action
    /// The place of the entry.
    public let range: SourceRange

    /// Creates an entry.
    ///
    /// - Parameters:
    ///   - outcomes: The outcomes; empty for `default`.
    ///   - action: The action for these outcomes.
    ///   - range: The place of the entry.
    public init(outcomes: [Outcome], action: Action, range: SourceRange = .none) {
        self.outcomes = outcomes
        self.action = action
        self.range = range
    }
}

extension [OutcomeRule] {
    /// The table of the entries.
    ///
    /// As in PAM, an outcome that no entry covers counts as a failure (`bad`).
    public var table: ActionTable {
        let rest = first { $0.outcomes.isEmpty }?.action ?? .bad
        var table = ActionTable(success: rest, ignored: rest, failure: rest)
        for rule in self {
            for outcome in rule.outcomes { table[outcome] = rule.action }
        }
        return table
    }

    /// The table in the words of realms.conf, for reports.
    public var text: String {
        let words = map { rule in
            let names = rule.outcomes.isEmpty ? ["default"] : rule.outcomes.map(\.description)
            let action = if case .jump(let count) = rule.action { "\(count)" } else { rule.action.description }
            return names.map { "\($0)=\(action)" }.joined(separator: " ")
        }
        return "[\(words.joined(separator: " "))]"
    }
}

extension OutcomeRule {
    /// The names of outcomes: the codes of Gatehouse, and the names of PAM for the same outcomes.
    static let names: [(name: String, outcomes: [Outcome])] =
        [("success", [.success]), ("ignored", [.ignored]), ("ignore", [.ignored])]
        + LoginFailure.allCases.map { ($0.code, [.failure($0)]) }
        + [
            ("auth_err", [.wrongCredentials]), ("user_unknown", [.unknownUser]),
            ("cred_unavail", [.missingCredential]), ("cred_err", [.unusableCredential]), ("maxtries", [.locked]),
            ("acct_expired", [.accountExpired, .disabled]), ("new_authtok_reqd", [.credentialExpired]),
            ("perm_denied", [.permissionDenied]), ("authinfo_unavail", [.unavailable]),
            ("system_err", [.internalError]),
        ].map { ($0.0, $0.1.map(Outcome.failure)) }

    /// The actions without jumps, as pam.conf spells them.
    static let actions: [Action] = [.ok, .done, .bad, .die, .ignore, .reset]
}
