// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import SeededRandom
import Testing

/// A model of the evaluation in Linux-PAM, written from its documentation and independent of the engine.
struct PAMModel {
    enum Entry {
        case marker(level: Int)
        case module(level: Int, outcome: Outcome, action: Action)

        var level: Int {
            switch self {
            case .marker(let level), .module(let level, _, _): level
            }
        }
    }

    private enum Impression { case none, good, bad }
    /// A nil status is PAM_PERM_DENIED, the initial result.
    private typealias State = (impression: Impression, status: Outcome?)

    let entries: [Entry]
    private(set) var called: [Int] = []
    private(set) var grants = false

    init(_ entries: [Entry]) {
        self.entries = entries
        run()
    }

    private mutating func run() {
        var state: State = (.none, nil)
        var saved: [Int: State] = [0: state]
        var before = 0
        var index = 0
        while index < entries.count {
            let level = entries[index].level
            if level > before { saved[level] = state }
            before = level
            guard case .module(_, let outcome, let action) = entries[index] else {
                index += 1
                continue
            }
            called.append(index)
            index += 1
            switch action {
            case .ignore: break
            case .reset: state = saved[level] ?? (.none, nil)
            case .ok, .done:
                if state.impression == .none || (state.impression == .good && state.status == .success) {
                    state = (.good, outcome)
                }
                if action == .done, state.impression == .good { leave(level, &index) }
            case .bad, .die:
                if state.impression != .bad { state = (.bad, outcome == .ignored ? nil : outcome) }
                if action == .die { leave(level, &index) }
            case .jump(let count):
                for _ in 0..<count {
                    guard index < entries.count, entries[index].level >= level else {
                        state = (.bad, nil)
                        break
                    }
                    // A sub-stack and its marker count as one entry.
                    index += 1
                    while index < entries.count, entries[index].level > level { index += 1 }
                }
            }
        }
        grants = state.status == .success && state.impression == .good
    }

    private func leave(_ level: Int, _ index: inout Int) {
        while index < entries.count, entries[index].level >= level { index += 1 }
    }
}

struct PAMStackTests {
    private static let outcomes: [Outcome] = [.success, .ignored] + LoginFailure.allCases.map { .failure($0) }

    /// Returns a random sub-stack of modules with random tables, and of further sub-stacks.
    private static func entries(
        level: Int,
        _ random: inout Random
    ) -> [(LoginStack.Entry?, PAMModel.Entry, ActionTable?)] {
        var list: [(LoginStack.Entry?, PAMModel.Entry, ActionTable?)] = []
        for _ in 0..<(1 + random.below(4)) {
            if level < 3, random.below(5) == 0 {
                list.append((.substack("s", level: level), .marker(level: level), nil))
                list += entries(level: level + 1, &random)
                continue
            }
            let outcome = random.below(2) == 0 ? .success : random.pick(outcomes)
            let table = table(&random)
            list.append((nil, .module(level: level, outcome: outcome, action: table[outcome]), table))
        }
        return list
    }

    private static func table(_ random: inout Random) -> ActionTable {
        if random.below(3) == 0 { return ActionTable(random.pick(ControlFlag.allCases)) }
        var table = ActionTable(success: action(&random), ignored: action(&random), failure: action(&random))
        for failure in LoginFailure.allCases where random.below(2) == 0 { table[.failure(failure)] = action(&random) }
        return table
    }

    private static func action(_ random: inout Random) -> Action {
        switch random.below(12) {
        case 0...3: .ok
        case 4: .done
        case 5: .bad
        case 6: .die
        case 7, 8: .ignore
        case 9: .reset
        default: .jump(UInt8(1 + random.below(3)))
        }
    }

    @Test(arguments: 0..<20)
    func `random stacks with bracket tables have the same results and calls as in Linux-PAM`(seed: UInt64) throws {
        var random = Random(seed: seed)
        var granted = 0
        for round in 0..<500 {
            let list = Self.entries(level: 0, &random)
            let calls = CallLog()
            let entries = list.enumerated().map { index, item in
                guard case .module(let level, let outcome, _) = item.1, let table = item.2 else {
                    return item.0 ?? .substack("s")
                }
                let module = FixedVerdictModule(outcome, index: index, calls: calls)
                return LoginStack.Entry(module, table, control: "[]", name: "m\(index)", level: level)
            }
            let model = PAMModel(list.map(\.1))
            let stack = LoginStack(name: "lane", entries, clock: ManualClock())
            let report = try #require(stack.loginNow(try request()))
            #expect(calls.all == model.called, "seed \(seed), stack \(round)")
            #expect(
                (report.identity != nil) == model.grants,
                "seed \(seed), stack \(round): \(list.map(\.1)) \(report.steps.map { "\($0.call)/\($0.action)/\($0.state)" })"
            )
            granted += model.grants ? 1 : 0
        }
        #expect((50..<450).contains(granted))
    }

    /// Source: the requirements for sub-stacks in the test suites of Linux-PAM.
    @Test func `a reset clears the state of its own sub-stack, in the login phase and in the commit phase`() throws {
        let reset = ActionTable(success: .reset, failure: .ignore)
        let yes = { (name: String) in FixedVerdictModule(.success, index: Int(name) ?? 0) }
        let stack = LoginStack(
            name: "substack3",
            [
                LoginStack.Entry(yes("0"), .required),
                .substack("inner"),
                LoginStack.Entry(
                    FixedVerdictModule(.failure(.wrongCredentials)),
                    ActionTable(.required),
                    control: "required",
                    name: "no",
                    level: 1
                ),
                LoginStack.Entry(yes("3"), reset, control: "[success=reset]", name: "yes", level: 1),
            ],
            clock: ManualClock()
        )
        let report = try #require(stack.loginNow(try request()))
        #expect(report.groups == ["g0", "g3"])
    }

    @Test func `modules after a sub-stack with a sufficient success are still called and committed`() throws {
        let stack = LoginStack(
            name: "outer",
            [
                .substack("inner"),
                LoginStack.Entry(
                    FixedVerdictModule(.success, index: 1),
                    ActionTable(.sufficient),
                    control: "sufficient",
                    name: "in",
                    level: 1
                ),
                LoginStack.Entry(FixedVerdictModule(.success, index: 2), .required),
            ],
            clock: ManualClock()
        )
        let report = try #require(stack.loginNow(try request()))
        #expect(report.groups == ["g1", "g2"])
    }

    @Test func `a commit that returns ignored does not count, even if the table counts ignored as bad`()
        async throws
    {
        let table = ActionTable(success: .ok, ignored: .bad, failure: .bad)
        let ignoring = ScriptedModule(commit: .ignore, logout: .ignore)
        let stack = stack(
            .required(ScriptedModule(.accept(groups: ["User"]))),
            LoginStack.Entry(ignoring, table, control: "[ignore=bad]", name: "ignoring")
        )
        let identity = try #require(try await stack.login().identity)
        #expect(identity.groups == ["User"])
        #expect(await stack.logout(identity).refusal == nil)
    }

    @Test func `a jump to the end of the stack is allowed, a longer jump is a failure`() throws {
        for (count, grants) in [(UInt8(1), true), (2, false)] {
            let table = ActionTable(success: .jump(count), failure: .bad)
            let stack = stack(
                .required(FixedVerdictModule(.success)),
                LoginStack.Entry(FixedVerdictModule(.success), table, control: "[success=\(count)]", name: "jumper"),
                .required(FixedVerdictModule(.failure(.locked)))
            )
            let report = try #require(stack.loginNow(try request()))
            #expect((report.identity != nil) == grants)
            if !grants { #expect(report.refusal == .module(index: 1, phase: .login, failure: .permissionDenied)) }
        }
    }
}
