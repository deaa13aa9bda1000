// SPDX-License-Identifier: Apache-2.0

package import RealmKit

/// A proof about one stack, for all answers that its modules can give.
///
/// The modules are taken as independent of each other: a combination of answers that two real back ends never give is
/// considered, too. A grant that is excluded here is impossible; a grant that is found may need such a combination. In the
/// commit phase, which can only refuse a login, modules behave as is the default.
package struct StackProof {
    package let model: StackModel
    package let decision: StackDecision
    private var diagrams: DecisionDiagrams

    private var success: Int { model.answer(.success) }
    private var unavailable: Int { model.answer(.failure(.unavailable)) }
    private var refused: Int { model.answer(.failure(.wrongCredentials)) }

    package init(_ model: StackModel) throws(DecisionDiagrams.TooLarge) {
        self.model = model
        diagrams = DecisionDiagrams(valueCount: model.answers.count)
        decision = try diagrams.decision(of: model, variables: Array(model.entries.indices))
    }

    /// True if there are answers by which a login is granted.
    package var canGrant: Bool { decision.grants != .no }

    /// The minimal sets of entries whose success grants a login; nil if they are more than ``MinimalSets/maximumCount``.
    ///
    /// An entry that always has the same answer is in no set.
    package var grantingSets: MinimalSets? { sets(of: decision.grants) }

    /// The same if every other entry refuses the login or is unavailable: none ignores it, but for those that never succeed,
    /// or gives an answer of another kind.
    package var strictSets: MinimalSets? { sets(of: decision.grants, isStrict: true) }

    /// The answers that every module has.
    private var usual: Set<Int> { [success, unavailable, refused] }

    private func sets(of node: DecisionDiagrams.Node, isStrict: Bool = false) -> MinimalSets? {
        guard isStrict else { return diagrams.minimalSets(of: node, values: [success]) }
        let ignoring: Set<Int> = [model.answer(.ignored), refused, unavailable]
        return diagrams.minimalSets(of: node, values: [success]) { [model, usual] entry in
            model.entries[entry].neverSucceeds ? ignoring : usual
        }
    }

    /// The modules that can answer differently, by name, with their entries, in the order of the stack.
    package var modules: [(name: String, entries: [Int])] {
        var modules: [(name: String, entries: [Int])] = []
        for (index, entry) in model.entries.enumerated()
        where entry.hasModule && entry.onlyAnswer == nil && decision.isReached[index] {
            if let known = modules.firstIndex(where: { $0.name.utf8.elementsEqual(entry.name.utf8) }) {
                modules[known].entries.append(index)
            } else {
                modules.append((entry.name, [index]))
            }
        }
        return modules
    }

    // MARK: Assumptions

    /// What a stack grants while some of its modules are unavailable.
    package struct OutageEffect: Sendable {
        /// The minimal sets of other entries that still grant; none if every login is refused, nil if they are too many.
        package let grantingSets: MinimalSets?
        /// The same if every other entry refuses the login or is unavailable.
        package let strictSets: MinimalSets?
        /// Answers by which a login is granted that the same modules would refuse if they were available; nil if there are
        /// none.
        package let opening: [Int: Int]?
    }

    /// Returns what the stack grants while the modules of some entries are unavailable.
    package mutating func whileUnavailable(_ entries: Set<Int>) throws(DecisionDiagrams.TooLarge) -> OutageEffect {
        let down = try diagrams.fixing(decision.grants, unavailable, of: entries)
        let refusing = try diagrams.fixing(decision.grants, refused, of: entries)
        let opening = try diagrams.difference(down, refusing)
        return OutageEffect(
            grantingSets: sets(of: down),
            strictSets: sets(of: down, isStrict: true),
            opening: example(of: opening)
        )
    }

    /// Returns the minimal sets of other entries that grant a login if one module accepts every user; nil if too many.
    ///
    /// `isStrict` says that every other entry refuses the login or is unavailable.
    package mutating func whileAccepting(
        _ entries: Set<Int>,
        isStrict: Bool = false
    ) throws(DecisionDiagrams.TooLarge) -> MinimalSets? {
        let accepting = try diagrams.fixing(decision.grants, success, of: entries)
        return sets(of: accepting, isStrict: isStrict)
    }

    /// Returns answers by which a login is granted although no module of the given entries succeeds; nil if that is impossible.
    package mutating func grantWithoutSuccess(of entries: Set<Int>) throws(DecisionDiagrams.TooLarge) -> [Int: Int]? {
        // A module that always succeeds must not be reached at all.
        let constant = entries.filter { model.entries[$0].onlyAnswer == success }
        let variables = Array(model.entries.indices)
        var allowed = try diagrams.decision(of: model, variables: variables, excluding: constant).grants
        for entry in entries where model.entries[entry].onlyAnswer == nil {
            var children = Array(repeating: DecisionDiagrams.Node.yes, count: model.answers.count)
            children[success] = .no
            allowed = try diagrams.and(allowed, try diagrams.choice(of: entry, children))
        }
        return example(of: allowed)
    }

    /// Returns the fewest outcomes by which a refused login would have been granted, by entry, given those of the modules that
    /// it reached; nil if no outcomes grant a login.
    package func smallestChange(of outcomes: [Int: Outcome]) -> [Int: Outcome]? {
        let usual = [success, refused]
        let impossible = { (entry: Int, value: Int) in model.entries[entry].neverSucceeds && value == success }
        let nearest = diagrams.nearest(to: decision.grants) { entry, value in
            if impossible(entry, value) { return 100_000 }
            let isEqual = outcomes[entry].map { model.answers[value].outcome == $0 } ?? (value == refused)
            // Of several changes, the first is to a success, and the last to an outage.
            return isEqual ? 0 : usual.contains(value) ? 10 : 11
        }
        guard let nearest, !nearest.contains(where: impossible) else { return nil }
        return nearest.mapValues { model.answers[$0].outcome }.filter { entry, outcome in
            outcomes[entry].map { $0 != outcome } ?? (outcome != .failure(.wrongCredentials))
        }
    }

    private func example(of node: DecisionDiagrams.Node) -> [Int: Int]? {
        diagrams.example(of: node, preferring: StackModel.preference(of: model.answers))
    }

    // MARK: Findings

    /// Returns the findings about the stack and its entries, in their order.
    package mutating func findings() throws(DecisionDiagrams.TooLarge) -> [StackFinding] {
        guard canGrant else {
            return [StackFinding(.vacuous, entry: nil, "the stack refuses every login")]
        }
        var findings: [StackFinding] = []
        // A module that ignores a login, such as one for other users, is no reason for a finding.
        if strictSets?.sets.first == [] {
            let text = "the stack grants a login without the success of any module that checks it"
            findings.append(StackFinding(.vacuous, entry: nil, text))
        }
        let support = diagrams.support(of: decision.grants)
        for (index, entry) in model.entries.enumerated() where entry.hasModule {
            guard decision.isReached[index] else {
                let text = "no login reaches \(entry.name)"
                findings.append(StackFinding(.shadowed, entry: index, text))
                continue
            }
            if let finding = try finding(about: entry, index, isInSupport: support.contains(index)) {
                findings.append(finding)
            }
        }
        return try findings + refusalFindings() + outageFinding()
    }

    private mutating func finding(
        about entry: StackModel.Entry,
        _ index: Int,
        isInSupport: Bool
    ) throws(DecisionDiagrams.TooLarge) -> StackFinding? {
        // A module that always ignores the login, such as pam_faildelay, is there for its effect.
        if let only = entry.onlyAnswer, model.answers[only].outcome == .ignored { return nil }
        if isInSupport {
            guard try diagrams.fixing(decision.grants, success, of: [index]) == .no else { return nil }
            return StackFinding(.overridden, entry: index, "a login in which \(entry.name) succeeds is never granted")
        }
        let without = try diagrams.decision(of: model.ignoring(entry: index), variables: Array(model.entries.indices))
        if without.grants == decision.grants {
            let jumps = model.entries[..<index].contains {
                $0.actions.contains { if case .jump = $0 { true } else { false } }
            }
            let advice = jumps ? "; a jump across it would have to be one shorter" : ""
            let groups = entry.onlyAnswer == nil || entry.onlyAnswer == success ? "; it may add groups" : ""
            let text = "\(entry.name) never decides: without it, the same logins are granted\(groups)\(advice)"
            return StackFinding(.redundant, entry: index, text)
        }
        guard entry.onlyAnswer == nil else { return nil }
        let text = "the answer of \(entry.name) never matters, although the line does"
        return StackFinding(.vacuous, entry: index, text)
    }

    /// The refusals of account modules that a login does not need to heed: if they ended it, fewer logins were granted.
    private mutating func refusalFindings() throws(DecisionDiagrams.TooLarge) -> [StackFinding] {
        var findings: [StackFinding] = []
        for index in model.accountEntries {
            let entry = model.entries[index]
            guard entry.hasModule, entry.onlyAnswer == nil, entry.control != "optional",
                !Self.conditions.contains(entry.name)
            else { continue }
            var (names, example): ([String], [Int: Int]) = ([], [:])
            for (answer, value) in model.answers.enumerated() where Self.refusals.contains(value.outcome) {
                let strict = model.refusing(answer, of: index)
                let refusing = try diagrams.decision(of: strict, variables: Array(model.entries.indices)).grants
                let ignored = try diagrams.difference(decision.grants, refusing)
                guard let answers = self.example(of: ignored) else { continue }
                if names.isEmpty { example = answers.filter { $0.key != index } }
                names.append(value.name)
            }
            guard !names.isEmpty else { continue }
            let condition = example.isEmpty ? "in every login" : "granted if \(model.text(example))"
            let text = "a refusal of \(entry.name) (\(names.joined(separator: ", "))) is ignored: \(condition)"
            findings.append(StackFinding(.overridden, entry: index, text))
        }
        return findings
    }

    /// The outcomes by which an account module refuses a user.
    private static let refusals: Set<Outcome> = [
        .failure(.wrongCredentials), .failure(.permissionDenied), .failure(.accountExpired), .failure(.disabled),
    ]

    /// The modules of PAM that test a condition for the lines after them, and refuse nobody themselves.
    private static let conditions: Set<String> = ["pam_localuser", "pam_rootok", "pam_succeed_if", "pam_usertype"]

    /// The outages by which no answer counts, if a stack is otherwise decided.
    private func outageFinding() -> [StackFinding] {
        let usual = usual
        guard
            let sets = diagrams.minimalSets(of: decision.undecided, values: [unavailable], allowed: { _ in usual })?
                .sets,
            let first = sets.first, !first.isEmpty
        else { return [] }
        let names = sets.map { $0.map { model.name(of: $0) }.joined(separator: " and ") }
        let text = "no answer counts while \(names.joined(separator: ", or ")) is unavailable"
        return [StackFinding(.undecided, entry: nil, text)]
    }
}

/// A finding of a proof about a stack.
package struct StackFinding: Sendable, Hashable {
    /// The kinds of findings.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The answer of an entry, or of all of them, never matters.
        case vacuous
        /// The same logins are granted without the entry.
        case redundant
        /// No login reaches the entry.
        case shadowed
        /// A success of the entry never leads to a grant, or a refusal of an account module does not prevent one.
        case overridden
        /// Outages lead to a refusal in which no answer counts.
        case undecided
    }

    package let kind: Kind
    /// The number of the entry; nil if the finding is about the stack.
    package let entry: Int?
    package let text: String

    init(_ kind: Kind, entry: Int?, _ text: String) { (self.kind, self.entry, self.text) = (kind, entry, text) }
}

extension StackModel {
    /// The answers for examples: first the usual ones of a login.
    static func preference(of answers: [Answer]) -> [Int] {
        let usual = [Outcome.failure(.wrongCredentials), .success, .failure(.unavailable)].compactMap { outcome in
            answers.firstIndex { $0.outcome == outcome }
        }
        return usual + answers.indices.filter { !usual.contains($0) }
    }

    /// Returns answers as text, by the names of the modules in their order, as in `A=success B=unavailable`.
    package func text(_ answers: [Int: Int]) -> String {
        Self.text(answers, of: self.answers, name: stack.answerName)
    }

    /// Returns the numbers of answers by variable as text, with the names of the variables, in their order.
    static func text(_ numbers: [Int: Int], of answers: [Answer], name: (_ variable: Int) -> String) -> String {
        numbers.sorted { $0.key < $1.key }.map { "\(name($0.key))=\(answers[$0.value].name)" }.joined(separator: " ")
    }
}
