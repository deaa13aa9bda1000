// SPDX-License-Identifier: Apache-2.0

/// The effect of an outage, that is of unavailable or broken modules, on the refusal of a login.
///
/// The response and the failure counters must not depend on the outcomes of the other modules. Otherwise they would
/// reveal whether the password was right and whether the user exists. The effect is therefore computed from all
/// evaluations that are possible while the same modules are down, with every possible outcome of the other modules.
public struct Outage: Sendable, Hashable {
    /// True if an unavailable module contributes to every possible refusal, so that the response may be 503.
    public let mayBeShown: Bool
    /// True if no possible evaluation succeeds: the refusal reveals nothing about the password, and is no failed guess.
    public let excludesSuccess: Bool
    /// True if an overloaded module contributes to every possible refusal.
    var isOverload = false
}

extension Outage {
    /// Computes the effect of outages; nil if there was no outage, or if a possible evaluation refuses without it.
    ///
    /// A module that has used the shared state is not counted as down: its outage may depend on other modules' outcomes.
    init?(of stack: LoginStack, trace: borrowing LoginTrace, refusal: Refusal, record: LoginRecord) {
        // In the commit phase the credentials have already been accepted. The response reveals nothing more about them.
        if case .module(_, .commit, let failure) = refusal {
            guard Outcome.failure(failure).isOutage else { return nil }
            self.init(mayBeShown: failure.isTemporary, excludesSuccess: true, isOverload: failure == .overloaded)
            return
        }
        var down: [Int: [Outcome]] = [:]
        for round in 0..<trace.reachedCount where trace[round].outcome.isOutage {
            guard !record.roundsUsingSharedState.contains(round) else { continue }
            down[Int(trace[round].entry)] = Self.possibleOutcomes(of: trace[round].outcome, in: round, of: record)
        }
        if down.isEmpty, trace.cancelledAt == nil { return nil }
        var walks = PossibleWalks(rules: stack.rules, down: down, cancelledAt: trace.cancelledAt)
        walks.explore()
        guard walks.isComplete, walks.allRefusalsMeetOutage else { return nil }
        self.init(
            mayBeShown: walks.allRefusalsMeetUnavailable,
            excludesSuccess: !walks.canGrant,
            isOverload: walks.allRefusalsMeetOverload
        )
    }

    /// Returns the outcomes that a module can have while the same back ends are down; nil for any outcome.
    ///
    /// A module that asked another realm can also succeed if that realm's stack can, with other credentials; its outage
    /// depends on the credentials if that of the other realm does.
    private static func possibleOutcomes(of outcome: Outcome, in round: Int, of record: LoginRecord) -> [Outcome]? {
        let nested = record.nestedLogins.filter { $0.round == round }
        guard !nested.isEmpty else { return [outcome] }
        guard nested.count == 1, let outage = nested[0].login.report?.outage else { return nil }
        return outage.excludesSuccess ? [outcome] : [outcome, .success]
    }
}

extension Outcome {
    /// True if the module could not decide, so that nothing is known about the credentials.
    package var isOutage: Bool {
        self == .failure(.unavailable) || self == .failure(.overloaded) || self == .failure(.internalError)
    }
}

/// All evaluations of a stack that are possible while some modules are down, and the other ones can have any outcome.
private struct PossibleWalks {
    let rules: ContiguousArray<EntryRule>
    /// The outcomes of the modules that are down, by entry.
    let down: [Int: [Outcome]]
    /// The entry at which the login was cancelled: no evaluation gets further.
    let cancelledAt: Int?

    /// False if there are too many evaluations, as in a stack with many jumps and sub-stacks.
    private(set) var isComplete = true
    private(set) var canGrant = false
    /// True if an unavailable or broken module contributes to each refusal.
    private(set) var allRefusalsMeetOutage = true
    private(set) var allRefusalsMeetUnavailable = true
    private(set) var allRefusalsMeetOverload = true

    private static let maximumStates = 5000

    /// As ``StackWalk/Impression``.
    private enum Impression: UInt8, Hashable {
        case undecided
        case good
        /// A table has counted a failure as a success; the login is refused at the end.
        case goodByFailure
        case bad
    }

    /// The failures of modules that are down, in the evaluation up to a state.
    private struct FailuresMet: OptionSet, Hashable {
        let rawValue: UInt8
        static let unavailable = FailuresMet(rawValue: 1)
        static let broken = FailuresMet(rawValue: 2)
        static let countedUnavailable = FailuresMet(rawValue: 4)
        static let countedBroken = FailuresMet(rawValue: 8)
        static let overloaded = FailuresMet(rawValue: 16)
        static let countedOverloaded = FailuresMet(rawValue: 32)
    }

    /// A state in an evaluation; two evaluations that reach the same state continue in the same way.
    private struct WalkState: Hashable {
        var position = 0
        var level = 0
        var impression = Impression.undecided
        var saved: [Impression] = []
        var failuresMet: FailuresMet = []
    }

    mutating func explore() {
        var open = [WalkState()]
        var seen: Set<WalkState> = []
        while var state = open.popLast() {
            guard seen.insert(state).inserted else { continue }
            guard seen.count <= Self.maximumStates else {
                isComplete = false
                return
            }
            guard state.position < rules.count else {
                end(state)
                continue
            }
            let rule = rules[state.position]
            if rule.level > state.level {
                while state.saved.count < rule.level { state.saved.append(state.impression) }
                state.saved[rule.level - 1] = state.impression
            }
            state.level = rule.level
            if cancelledAt == state.position {
                state.impression = .bad
                state.failuresMet.insert(.countedUnavailable)
                end(state)
            } else if rule.isSubstack {
                state.position += 1
                open.append(state)
            } else if let outcomes = down[state.position] {
                for outcome in outcomes { open.append(next(state, outcome: outcome, isDown: outcome.isOutage)) }
            } else {
                for outcome in Self.outcomes { open.append(next(state, outcome: outcome, isDown: false)) }
            }
        }
    }

    private static let outcomes = [Outcome.success, .ignored] + LoginFailure.allCases.map { Outcome.failure($0) }

    private mutating func end(_ state: WalkState) {
        guard state.impression != .good else {
            canGrant = true
            return
        }
        // An uncounted failure decides only if no other outcome counts.
        let counts = state.impression == .bad
        let isDown =
            state.failuresMet.contains(.countedUnavailable) || (!counts && state.failuresMet.contains(.unavailable))
        let isBroken = state.failuresMet.contains(.countedBroken) || (!counts && state.failuresMet.contains(.broken))
        let isOverload =
            state.failuresMet.contains(.countedOverloaded) || (!counts && state.failuresMet.contains(.overloaded))
        if !isDown { allRefusalsMeetUnavailable = false }
        if !isOverload { allRefusalsMeetOverload = false }
        if !isDown, !isBroken { allRefusalsMeetOutage = false }
    }

    private func next(_ from: WalkState, outcome: Outcome, isDown: Bool) -> WalkState {
        var state = from
        let action = rules[state.position].table[outcome]
        state.position += 1
        let isOverload = isDown && outcome == .failure(.overloaded)
        if isDown { state.failuresMet.insert(outcome.failure == .internalError ? .broken : .unavailable) }
        if isOverload { state.failuresMet.insert(.overloaded) }
        switch action {
        case .ok, .done:
            if state.impression == .undecided || state.impression == .good {
                state.impression = outcome == .success ? .good : .goodByFailure
            }
            if action == .done, state.impression != .bad { leave(&state) }
        case .bad, .die:
            state.impression = .bad
            if isDown {
                state.failuresMet.insert(outcome.failure == .internalError ? .countedBroken : .countedUnavailable)
            }
            if isOverload { state.failuresMet.insert(.countedOverloaded) }
            if action == .die { leave(&state) }
        case .ignore: break
        case .reset:
            state.impression =
                state.level == 0 || state.saved.count < state.level ? .undecided : state.saved[state.level - 1]
        case .jump(let count):
            for _ in 0..<count {
                guard skipOne(&state) else {
                    state.impression = .bad
                    break
                }
            }
        }
        return state
    }

    private func leave(_ state: inout WalkState) {
        while state.position < rules.count, rules[state.position].level >= state.level { state.position += 1 }
    }

    private func skipOne(_ state: inout WalkState) -> Bool {
        guard state.position < rules.count, rules[state.position].level >= state.level else { return false }
        state.position += 1
        while state.position < rules.count, rules[state.position].level > state.level { state.position += 1 }
        return true
    }
}
