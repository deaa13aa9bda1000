// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

/// The decision of a stack as a function of the answers of its modules.
package struct StackDecision {
    /// True for the answers by which a login is granted.
    package let grants: DecisionDiagrams.Node
    /// True for the answers of which none counts, so that the login is refused without a reason.
    package let undecided: DecisionDiagrams.Node
    /// For each entry, whether a login can reach it.
    package let isReached: [Bool]
}

extension DecisionDiagrams {
    /// The maximum number of states of the evaluation of one stack.
    package static let maximumStates = 50_000

    /// Returns the decision of a stack, by the walk of the engine through all states that answers can lead to.
    ///
    /// The variable of an entry is the element of `variables`; the variables of a stack must be different. Logins that reach
    /// an entry of `excluded` count as refused.
    package mutating func decision(
        of model: StackModel,
        variables: [Int],
        excluding excluded: Set<Int> = []
    ) throws(TooLarge) -> StackDecision {
        var walks = StackWalks(model)
        try walks.explore()
        var grants = walks.states.map { Array(repeating: Node.no, count: $0.count) }
        var undecided = grants
        // The walk never goes back, so that the functions of later entries are already known.
        for entry in walks.states.indices.reversed() {
            for state in walks.states[entry].indices where !excluded.contains(entry) {
                let ends = walks.ends[entry][state]
                grants[entry][state] = try choice(of: variables[entry], ends, in: model.entries[entry]) {
                    $0.node(grants, isEnd: .grants)
                }
                undecided[entry][state] = try choice(of: variables[entry], ends, in: model.entries[entry]) {
                    $0.node(undecided, isEnd: .undecided)
                }
            }
        }
        let first = walks.first
        return StackDecision(
            grants: first.node(grants, isEnd: .grants),
            undecided: first.node(undecided, isEnd: .undecided),
            isReached: walks.states.map { !$0.isEmpty }
        )
    }

    private mutating func choice(
        of variable: Int,
        _ ends: [StackWalks.End],
        in entry: StackModel.Entry,
        _ node: (StackWalks.End) -> Node
    ) throws(TooLarge) -> Node {
        if entry.onlyAnswer != nil { return node(ends[0]) }
        return try choice(of: variable, ends.map(node))
    }
}

/// All states that the walk through a stack can have, entry by entry.
struct StackWalks {
    /// The state that follows an answer, or the end of the walk.
    enum End {
        case state(entry: Int, number: Int)
        case grants, refuses, undecided

        /// Returns the function that is true for one kind of end, with the functions of the states that are already known.
        func node(_ nodes: [[DecisionDiagrams.Node]], isEnd end: End) -> DecisionDiagrams.Node {
            switch (self, end) {
            case (.state(let entry, let number), _): nodes[entry][number]
            case (.grants, .grants), (.undecided, .undecided): .yes
            default: .no
            }
        }
    }

    /// The walk of the login phase, and that of the commit phase so far, if there is one.
    struct State: Hashable {
        var login = StackWalk()
        var commit: StackWalk?
    }

    let model: StackModel
    /// The different states in which logins reach each entry.
    private(set) var states: [[State]]
    /// For each of them, the effect of each answer, or of the only one.
    private(set) var ends: [[[End]]]
    private(set) var first = End.undecided
    private var numbers: [[State: Int]]
    private var count = 0

    init(_ model: StackModel) {
        self.model = model
        states = model.entries.map { _ in [] }
        ends = model.entries.map { _ in [] }
        numbers = model.entries.map { _ in [:] }
    }

    mutating func explore() throws(DecisionDiagrams.TooLarge) {
        first = try end(of: State(commit: model.hasCommit ? StackWalk() : nil))
        for entry in states.indices {
            var next = 0
            while next < states[entry].count {
                ends[entry].append(try answers(of: states[entry][next], at: entry))
                next += 1
            }
        }
    }

    private mutating func answers(
        of state: State,
        at index: Int
    ) throws(DecisionDiagrams.TooLarge) -> [End] {
        let entry = model.entries[index]
        var known: [Effect: End] = [:]
        var ends: [End] = []
        for answer in entry.onlyAnswer.map({ $0..<($0 + 1) }) ?? model.answers.indices {
            let outcome = model.answers[answer].outcome
            let effect = Effect(action: entry.actions[answer], isSuccess: outcome == .success)
            if let end = known[effect] {
                ends.append(end)
                continue
            }
            var following = state
            following.login.count(outcome, of: index, as: effect.action, in: model.stack)
            following.login.forgetCauses()
            following.commit?.countCommit(of: outcome, of: index, as: effect.action, in: model.stack)
            following.commit?.forgetCauses()
            let end = try end(of: following)
            known[effect] = end
            ends.append(end)
        }
        return ends
    }

    private struct Effect: Hashable {
        let action: Action
        let isSuccess: Bool
    }

    private mutating func end(of state: State) throws(DecisionDiagrams.TooLarge) -> End {
        var state = state
        guard let entry = state.login.nextModule(in: model.stack) else {
            if state.login.grants { return state.commit?.grants ?? true ? .grants : .refuses }
            return state.login.state == .undecided ? .undecided : .refuses
        }
        if let number = numbers[entry][state] { return .state(entry: entry, number: number) }
        count += 1
        guard count <= DecisionDiagrams.maximumStates else { throw DecisionDiagrams.TooLarge() }
        numbers[entry][state] = states[entry].count
        states[entry].append(state)
        return .state(entry: entry, number: states[entry].count - 1)
    }
}
