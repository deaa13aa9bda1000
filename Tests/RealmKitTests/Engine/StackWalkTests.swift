// SPDX-License-Identifier: Apache-2.0

import RealmTesting
import Testing

@testable import RealmKit

struct StackWalkTests {
    /// The modules 0, 5 and 6, and after the first a sub-stack of the modules 2, 3 and 4.
    private static let stack = LoginStack(
        name: "lane",
        [module(0), .substack("inner"), module(1), module(1), module(1), module(0), module(0)],
        clock: ManualClock()
    )

    private static func module(_ level: Int) -> LoginStack.Entry {
        let module = FixedVerdictModule(.success)
        return LoginStack.Entry(module, ActionTable(.required), control: "required", name: "module", level: level)
    }

    private static let wrong = Outcome.failure(.wrongCredentials)
    private static let unchanged: [LoginStep.State] = [.undecided, .granting, .refusing]

    /// An action for the outcome of module 2, and what follows if the state before is undecided, granting or refusing: the
    /// next module, the state, and whether the walk grants.
    private static let effects: [(Action, Outcome, [Int], [LoginStep.State], [Bool])] = [
        (.ok, .success, [3, 3, 3], [.granting, .granting, .refusing], [true, true, false]),
        (.ok, wrong, [3, 3, 3], [.granting, .granting, .refusing], [false, false, false]),
        (.done, .success, [5, 5, 3], [.granting, .granting, .refusing], [true, true, false]),
        (.bad, wrong, [3, 3, 3], [.refusing, .refusing, .refusing], [false, false, false]),
        (.die, wrong, [5, 5, 5], [.refusing, .refusing, .refusing], [false, false, false]),
        (.ignore, wrong, [3, 3, 3], unchanged, [false, true, false]),
        (.reset, wrong, [3, 3, 3], unchanged, [false, true, false]),
        (.jump(0), .success, [3, 3, 3], unchanged, [false, true, false]),
        (.jump(1), .success, [4, 4, 4], unchanged, [false, true, false]),
        (.jump(2), .success, [5, 5, 5], unchanged, [false, true, false]),
        (.jump(3), .success, [5, 5, 5], [.refusing, .refusing, .refusing], [false, false, false]),
    ]

    @Test(arguments: effects)
    func `an action decides the next module and the state`(
        action: Action,
        outcome: Outcome,
        next: [Int],
        states: [LoginStep.State],
        grants: [Bool]
    ) {
        for (index, first) in [Action.ignore, .ok, .bad].enumerated() {
            var walk = StackWalk()
            var modules = [walk.nextModule(in: Self.stack)]
            walk.count(first == .bad ? Self.wrong : .success, of: 0, as: first, in: Self.stack)
            modules.append(walk.nextModule(in: Self.stack))
            #expect(walk.state == Self.unchanged[index])
            let isFailure = walk.count(outcome, of: 2, as: action, in: Self.stack)
            modules.append(walk.nextModule(in: Self.stack))
            #expect(modules == [0, 2, next[index]])
            #expect(isFailure == [.bad, .die].contains(action))
            #expect(walk.state == states[index] && walk.grants == grants[index])
        }
    }

    @Test func `a reset restores the state at the beginning of its sub-stack, or that before the first module`() {
        var walk = StackWalk()
        for (entry, outcome, action, state) in [
            (0, .success, .ok, .granting), (2, Self.wrong, .bad, .refusing), (3, .success, .reset, .granting),
            (4, Self.wrong, .bad, .refusing), (5, .success, .reset, .undecided), (6, .success, .ok, .granting),
        ] as [(Int, Outcome, Action, LoginStep.State)] {
            let next = walk.nextModule(in: Self.stack)
            walk.count(outcome, of: entry, as: action, in: Self.stack)
            #expect(next == entry && walk.state == state)
        }
        let end = walk.nextModule(in: Self.stack)
        #expect(end == nil && walk.grants)
    }

    @Test func `the first failure that counted is reported, otherwise the first failure`() {
        var walk = StackWalk()
        #expect(walk.failure == nil)
        walk.count(.failure(.unknownUser), of: 0, as: .ignore, in: Self.stack)
        #expect(walk.failure == StackWalk.Cause(outcome: .failure(.unknownUser), entry: 0))
        for (entry, failure) in [(2, LoginFailure.locked), (3, .disabled)] {
            walk.count(.failure(failure), of: entry, as: .bad, in: Self.stack)
            #expect(walk.failure == StackWalk.Cause(outcome: .failure(.locked), entry: 2))
        }
        // A jump past the end replaces it, as in Linux-PAM.
        walk.count(.success, of: 6, as: .jump(1), in: Self.stack)
        #expect(walk.failure == StackWalk.Cause(outcome: .failure(.permissionDenied), entry: 6))
    }

    @Test func `after the login phase no module is skipped by a jump or in a logout, and an ignored call never counts`()
    {
        for (action, commit, logout) in [
            (.ok, .ok, .ok), (.done, .done, .ok), (.bad, .bad, .bad), (.die, .die, .bad), (.ignore, .ignore, .ignore),
            (.reset, .reset, .reset), (.jump(2), .ok, .ok),
        ] as [(Action, Action, Action)] {
            let table = ActionTable(success: action, ignored: action, failure: action)
            let entry = LoginStack.Entry(FixedVerdictModule(.success), table, control: "table", name: "module")
            let phases = [LoginPhase.login, .commit, .abort, .logout]
            let counted = phases.map { EntryRule(entry).action(for: Self.wrong, in: $0) }
            #expect(counted == [action, commit, .ignore, logout])
            let ignored = phases.map { EntryRule(entry).action(for: .ignored, in: $0) }
            #expect(ignored == [action, .ignore, .ignore, .ignore])
        }
    }

    @Test func `a walk reaches the modules of a former walk, but those that it has left`() {
        var walk = StackWalk()
        var reached = [walk.advance(to: 2, in: Self.stack)]
        walk.count(.success, of: 2, as: .done, in: Self.stack)
        for entry in [4, 6] { reached.append(walk.advance(to: entry, in: Self.stack)) }
        #expect(reached == [true, false, true])
    }

    @Test func `walks that have come to the same state in different ways are equal without their causes`() {
        let causes = [(LoginFailure.locked, Action.bad), (.unknownUser, .bad), (.unknownUser, .ignore)]
        var walks = causes.map { failure, action in
            var walk = StackWalk()
            walk.count(.failure(failure), of: 0, as: action, in: Self.stack)
            return walk
        }
        #expect(Set(walks).count == 3)
        for index in walks.indices { walks[index].forgetCauses() }
        #expect(walks[0] == walks[1] && walks[1] != walks[2])
    }
}
