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
            return names.map { "\($0)=\(rule.action.word)" }.joined(separator: " ")
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

// MARK: The grammar

extension Parser {
    /// True if the current token begins a table of outcomes.
    var beginsOutcomeTable: Bool {
        token.kind == .invalidCharacter && text.bytes[token.start] == UInt8(ascii: "[")
    }

    /// Parses a table of outcomes from its `[` to its `]`; it is empty if it has an error, which has been reported.
    mutating func parseOutcomeTable() -> [OutcomeRule] {
        let content = text.bytes[token.end...].prefix { !"[]{};\"".utf8.contains($0) }
        let isClosed = content.endIndex < text.bytes.count && text.bytes[content.endIndex] == UInt8(ascii: "]")
        let range = SourceRange(token.start, content.endIndex + (isClosed ? 1 : 0))
        var rules: [OutcomeRule?] = []
        if expansion != nil {
            let hint =
                "login.conf has no tables; write this entry as a login block of realms.conf. \(TextRole.flag.hint)"
            diagnostics.error("a table of outcomes is not a control flag", at: range, hint: hint)
        } else if !isClosed {
            diagnostics.error("the table of outcomes is not closed", at: range, hint: Self.tableHint)
        } else {
            for word in content.split(whereSeparator: \.isLoginConfWhitespace) {
                let place = SourceRange(word.startIndex, word.endIndex)
                rules.append(outcomeRule(at: place, after: rules.compactMap(\.self)))
            }
            if rules.isEmpty {
                diagnostics.error("the table of outcomes is empty", at: range, hint: Self.tableHint)
            }
        }
        token = Token(kind: .word, start: range.start, end: range.end)
        scanner.position = range.end
        advance()
        return rules.contains { $0 == nil } ? [] : rules.compactMap(\.self)
    }

    private mutating func outcomeRule(at range: SourceRange, after rules: [OutcomeRule]) -> OutcomeRule? {
        let word = text.string(in: range)
        let parts = word.utf8.split(separator: .equals, omittingEmptySubsequences: false).map { String(Substring($0)) }
        guard parts.count == 2 else {
            let message = "\(DiagnosticText.word(word)) is not an outcome with an action"
            diagnostics.error(message, at: range, hint: Self.tableHint)
            return nil
        }
        guard let outcomes = outcomes(parts[0], at: range), let action = action(parts[1], at: range) else { return nil }
        let isKnown = rules.contains {
            $0.outcomes.isEmpty ? outcomes.isEmpty : !Set($0.outcomes).isDisjoint(with: outcomes)
        }
        if isKnown {
            diagnostics.error("\(DiagnosticText.word(parts[0])) occurs twice in the table", at: range)
            return nil
        }
        if action == .ok || action == .done, outcomes != [.success] {
            let hint = "only a success can count as one: write success=\(action), and ignore, bad or die for the others"
            diagnostics.error("\(DiagnosticText.word(word)) would count a failure as a success", at: range, hint: hint)
            return nil
        }
        return OutcomeRule(outcomes: outcomes, action: action, range: range)
    }

    /// Returns the outcomes of a name; none for `default`, and nil for an unknown name, which is reported.
    private mutating func outcomes(_ name: String, at range: SourceRange) -> [Outcome]? {
        if name.utf8.elementsEqual("default".utf8) { return [] }
        if let known = OutcomeRule.names.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) {
            return known.outcomes
        }
        let names = ["default"] + OutcomeRule.names.map(\.name)
        let hint =
            NearestName.suggest(name, among: names).map { "did you mean `\($0)`?" }
            ?? "the outcomes are default, success, ignored, \(LoginFailure.allCases.map(\.code).joined(separator: ", "))"
        diagnostics.error("there is no outcome \(DiagnosticText.word(name))", at: range, hint: hint)
        return nil
    }

    private mutating func action(_ value: String, at range: SourceRange) -> Action? {
        if let known = OutcomeRule.actions.first(where: { $0.description.utf8.elementsEqual(value.utf8) }) {
            return known
        }
        if value.utf8.allSatisfy(\.isDigit), let count = UInt8(value), count > 0 { return .jump(count) }
        let hint = "the actions are ok, done, bad, die, ignore, reset, or the number of modules to skip, from 1 to 255"
        diagnostics.error("there is no action \(DiagnosticText.word(value))", at: range, hint: hint)
        return nil
    }

    private static let tableHint = "as in: [success=done unavailable=ignore default=die]"
}
