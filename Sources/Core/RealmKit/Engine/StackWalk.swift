// SPDX-License-Identifier: Apache-2.0

/// A walk through a stack in one phase: the position, and the decision that follows from the outcomes so far.
///
/// It alone gives the actions their meaning. The engine calls the modules that the walk reaches; ``Outage`` and the prover
/// continue copies with other outcomes.
///
/// Source: `_pam_dispatch_aux` of Linux-PAM for actions, levels, jumps and the check at the end; `LoginContext.invoke`
/// of the JDK for the failure to report (the first failure that counted, otherwise the first failure that did not
/// count).
package struct StackWalk: Hashable, Sendable {
    /// The outcome that decides, and the entry of its module.
    struct Cause: Hashable {
        let outcome: Outcome
        let entry: UInt16
    }

    /// The decision so far: the impression and the status of Linux-PAM.
    private struct Standing: Hashable {
        var state = LoginStep.State.undecided
        var cause = Cause(outcome: .ignored, entry: 0)
    }

    private var position = 0
    private var standing = Standing()
    /// The decision at the beginning of each open sub-stack, which `reset` restores; their number is the level.
    private var opened: [Standing] = []
    private var firstUncountedFailure: Cause?
    /// The number of boundaries between parts of the stack that the walk has crossed.
    private(set) var part = 0

    /// A walk at the beginning of a stack.
    package init() {}

    package var state: LoginStep.State { standing.state }

    /// True if a success has counted, and no failure: a login without modules, or that all modules ignored, is refused.
    package var grants: Bool { standing.state == .granting && standing.cause.outcome == .success }

    /// The failure to report when the walk does not grant; nil if no module failed.
    var failure: Cause? {
        standing.state == .refusing || standing.cause.outcome.failure != nil ? standing.cause : firstUncountedFailure
    }

    /// Moves to the next module and returns its entry; nil at the end.
    @inline(__always)
    package mutating func nextModule(in stack: LoginStack) -> Int? {
        while position < stack.rules.count {
            if stack.rules[position].isBoundary {
                guard cross(in: stack) else { return nil }
            } else {
                enter(level: stack.rules[position].level)
                if !stack.rules[position].isSubstack { return position }
            }
            position += 1
        }
        return nil
    }

    /// Moves to a module that a former walk has reached; returns false if this walk has left its part of the stack.
    mutating func advance(to entry: Int, in stack: LoginStack) -> Bool {
        guard position <= entry else { return false }
        for index in position...entry {
            if !stack.rules[index].isBoundary {
                enter(level: stack.rules[index].level)
            } else if !cross(in: stack) {
                return false
            }
        }
        position = entry
        return true
    }

    /// Begins the next part of the stack; if the part before it does not grant, the walk ends, and returns false.
    private mutating func cross(in stack: LoginStack) -> Bool {
        guard grants else {
            position = stack.rules.count
            return false
        }
        (standing, opened, firstUncountedFailure) = (Standing(), [], nil)
        part += 1
        return true
    }

    private mutating func enter(level: Int) {
        if opened.count > level { opened.removeLast(opened.count - level) }
        while opened.count < level { opened.append(standing) }
    }

    /// Counts the outcome of a module, and moves behind it, or further; returns true if it counts as a failure.
    @inline(__always)
    @discardableResult
    package mutating func count(
        _ outcome: Outcome,
        of entry: Int,
        as action: Action,
        in stack: LoginStack
    ) -> Bool {
        let cause = Cause(outcome: outcome, entry: UInt16(truncatingIfNeeded: entry))
        position = entry + 1
        switch action {
        case .ok, .done:
            // If a table counts a failure as ok, the state is granting, but the login is refused at the end.
            if standing.state == .undecided || grants { standing = Standing(state: .granting, cause: cause) }
            if action == .done, standing.state == .granting { skip(downTo: opened.count, in: stack) }
        case .bad, .die:
            if standing.state != .refusing { standing = Standing(state: .refusing, cause: cause) }
            if action == .die { skip(downTo: opened.count, in: stack) }
            return true
        case .ignore, .jump:
            if outcome.failure != nil, firstUncountedFailure == nil { firstUncountedFailure = cause }
            if case .jump(let count) = action, !skip(count, in: stack) {
                standing = Standing(
                    state: .refusing,
                    cause: Cause(outcome: .failure(.permissionDenied), entry: cause.entry)
                )
            }
        case .reset:
            standing = opened.last ?? Standing()
        }
        return false
    }

    /// Counts the commit of a module that a login has reached, for analyses.
    ///
    /// Like the default of ``LoginModule/commit(_:)``, it is done after a success, and has nothing to commit otherwise. The
    /// action is that of the login phase.
    package mutating func countCommit(of outcome: Outcome, of entry: Int, as action: Action, in stack: LoginStack) {
        guard advance(to: entry, in: stack) else { return }
        if outcome == .success {
            count(.success, of: entry, as: action.afterLogin, in: stack)
        } else {
            // The outcome of the login phase counts again.
            count(outcome, of: entry, as: action.counts ? action : .ignore, in: stack)
        }
    }

    /// Skips entries of the current level, each with the sub-stack that follows it; returns false if there are too few.
    private mutating func skip(_ count: UInt8, in stack: LoginStack) -> Bool {
        for _ in 0..<count {
            guard position < stack.rules.count, stack.rules[position].level >= opened.count else { return false }
            position += 1
            skip(downTo: opened.count + 1, in: stack)
        }
        return true
    }

    private mutating func skip(downTo level: Int, in stack: LoginStack) {
        while position < stack.rules.count, stack.rules[position].level >= level { position += 1 }
    }

    /// Forgets which modules decided, so that walks are equal that continue and end in the same way; to be called after each
    /// outcome, before the walk opens a sub-stack.
    package mutating func forgetCauses() {
        standing.cause = Cause(outcome: grants ? .success : .ignored, entry: 0)
        firstUncountedFailure = nil
    }
}

/// The part of an entry that decides how the outcome of its module counts, without references, so that reading it changes
/// no reference count.
struct EntryRule: Sendable {
    let table: ActionTable
    /// The depth of the sub-stack that contains the entry; 0 for the stack itself, and -1 for a boundary.
    let level: Int
    /// True if the entry begins a sub-stack and has no module.
    let isSubstack: Bool
    /// True if the entry is between two parts of the stack; its level is below all others, so that no walk skips it.
    var isBoundary: Bool { level < 0 }

    init(_ entry: LoginStack.Entry) {
        table = entry.table
        level = entry.level
        isSubstack = entry.isSubstack
    }

    /// Returns the action for an outcome.
    ///
    /// After the login phase the modules to call are fixed, so a jump skips none, and an ignored call never counts. A logout
    /// calls all of them.
    func action(for outcome: Outcome, in phase: LoginPhase) -> Action {
        switch (table[outcome], phase) {
        case (let action, .login): action
        case (_, .abort): .ignore
        case _ where outcome == .ignored: .ignore
        case (.done, .logout): .ok
        case (.die, .logout): .bad
        case (let action, _): action.afterLogin
        }
    }
}

extension Action {
    /// The action after the login phase: the modules to call are fixed, so a jump skips none.
    fileprivate var afterLogin: Action { if case .jump = self { .ok } else { self } }

    /// True if the outcome itself has an effect on the decision.
    var counts: Bool {
        switch self {
        case .ok, .done, .bad, .die, .reset: true
        case .ignore, .jump: false
        }
    }
}
