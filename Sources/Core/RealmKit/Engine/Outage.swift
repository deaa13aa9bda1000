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
    init?(of stack: LoginStack, trace: LoginTrace, refusal: Refusal, record: LoginRecord) {
        // In the commit phase the credentials have already been accepted. The response reveals nothing more about them.
        if case .module(_, .commit, let failure) = refusal {
            guard Outcome.failure(failure).isOutage else { return nil }
            self.init(mayBeShown: failure.isTemporary, excludesSuccess: true, isOverload: failure == .overloaded)
            return
        }
        var down: [Int: [Outcome]] = [:]
        // The steps are not copied, because a copy counts references.
        for round in 0..<trace.reachedCount where trace.steps[round].outcome.isOutage {
            guard !record.usedSharedState(round: round) else { continue }
            let outcome = trace.steps[round].outcome
            down[trace.steps[round].index] = Self.possibleOutcomes(of: outcome, in: round, of: record)
        }
        if down.isEmpty, trace.cancelledAt == nil { return nil }
        var walks = PossibleWalks(stack: stack, down: down, cancelledAt: trace.cancelledAt)
        guard walks.explore(), walks.inEveryRefusal.contains(.outage) else { return nil }
        self.init(
            mayBeShown: walks.inEveryRefusal.contains(.unavailable),
            excludesSuccess: !walks.canGrant,
            isOverload: walks.inEveryRefusal.contains(.overloaded)
        )
    }

    /// Returns the outcomes that a module can have while the same back ends are down; nil for any outcome.
    ///
    /// A module that asked another realm can also succeed if that realm's stack can, with other credentials; its outage
    /// depends on the credentials if that of the other realm does.
    private static func possibleOutcomes(of outcome: Outcome, in round: Int, of record: LoginRecord) -> [Outcome]? {
        let nested = record.nested.filter { $0.round == round }
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
    let stack: LoginStack
    /// The outcomes of the modules that are down, by entry.
    let down: [Int: [Outcome]]
    /// The entry at which the login was cancelled: no evaluation gets further.
    let cancelledAt: Int?

    private(set) var canGrant = false
    /// The failures of modules that are down that contribute to each refusal.
    private(set) var inEveryRefusal: Failures = [.outage, .unavailable, .overloaded]

    struct Failures: OptionSet, Hashable {
        let rawValue: UInt8
        static let outage = Failures(rawValue: 1)
        static let unavailable = Failures(rawValue: 2)
        static let overloaded = Failures(rawValue: 4)
    }

    /// A state in an evaluation; two evaluations that reach the same state continue in the same way.
    private struct State: Hashable {
        var walk = StackWalk()
        /// The failures of modules that are down.
        var met: Failures = []
        /// Those of them that were counted.
        var counted: Failures = []
    }

    private static let maximumStates = 5000

    /// Returns false if there are too many evaluations, as in a stack with many jumps and sub-stacks.
    mutating func explore() -> Bool {
        var open = [State()]
        var seen: Set<State> = []
        while var state = open.popLast() {
            guard seen.insert(state).inserted else { continue }
            guard seen.count <= Self.maximumStates else { return false }
            let part = state.walk.part
            let next = state.walk.nextModule(in: stack)
            // The part before has granted, so its failures contribute to no refusal.
            if state.walk.part != part { (state.met, state.counted) = ([], []) }
            guard let entry = next else {
                // An uncounted failure decides only if no other outcome counts.
                let failures = state.walk.state == .refusing ? state.counted : state.met
                if state.walk.grants { canGrant = true } else { inEveryRefusal.formIntersection(failures) }
                continue
            }
            if entry == cancelledAt {
                inEveryRefusal.formIntersection(state.counted.union([.outage, .unavailable]))
                continue
            }
            for outcome in down[entry] ?? Outcome.all { open.append(after(state, outcome, of: entry)) }
        }
        return true
    }

    private func after(_ from: State, _ outcome: Outcome, of entry: Int) -> State {
        var state = from
        let countsAsFailure = state.walk.count(outcome, of: entry, as: stack.rules[entry].table[outcome], in: stack)
        state.walk.forgetCauses()
        guard down[entry] != nil, outcome.isOutage else { return state }
        var failures: Failures = outcome == .failure(.internalError) ? .outage : [.outage, .unavailable]
        if outcome == .failure(.overloaded) { failures.insert(.overloaded) }
        state.met.formUnion(failures)
        if countsAsFailure { state.counted.formUnion(failures) }
        return state
    }
}
