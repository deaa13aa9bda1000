// SPDX-License-Identifier: Apache-2.0

/// Computes the decision of a stack from the outcomes of its modules, one after the other, in one phase.
///
/// Source: `_pam_dispatch_aux` of Linux-PAM for actions, levels, jumps and the check at the end; `LoginContext.invoke`
/// of the JDK for the failure to report (the first failure that counted, otherwise the first failure that did not
/// count).
struct StackWalk {
    /// The impression of the outcomes so far, a term of Linux-PAM.
    enum Impression: UInt8, Sendable {
        /// Nothing has counted yet.
        case undecided
        /// A success has counted, and no failure.
        case good
        /// A failure has counted.
        case bad
    }

    /// The outcome that decides, and the entry of its module.
    struct Cause {
        let outcome: Outcome
        let entry: UInt16

        init(outcome: Outcome, entry: Int) {
            self.outcome = outcome
            self.entry = UInt16(truncatingIfNeeded: entry)
        }
    }

    /// The next entry of the walk.
    enum Next {
        case following
        case leave(level: Int)
        case skip(Int)
    }

    private(set) var impression = Impression.undecided
    private var cause: Cause?
    private var firstUncountedFailure: Cause?
    // The impressions that `reset` restores: the first is for level 1. At level 0 `reset` restores the initial state.
    private var saved: [(impression: Impression, cause: Cause?)] = []

    mutating func enter(level: Int) {
        while saved.count < level { saved.append((impression, cause)) }
        saved[level - 1] = (impression, cause)
    }

    @inline(__always)
    mutating func count(_ outcome: Outcome, of entry: Int, as action: Action, level: Int) -> Next {
        switch action {
        case .ok, .done:
            // If a table counts a failure as ok, the impression is good, but the login is refused at the end.
            if impression == .undecided || (impression == .good && cause?.outcome == .success) {
                impression = .good
                cause = Cause(outcome: outcome, entry: entry)
            }
            if action == .done, impression == .good { return .leave(level: level) }
        case .bad, .die:
            if impression != .bad {
                impression = .bad
                cause = Cause(outcome: outcome, entry: entry)
            }
            if action == .die { return .leave(level: level) }
        case .ignore:
            noteUncounted(outcome, of: entry)
        case .reset:
            (impression, cause) = level == 0 || saved.count < level ? (.undecided, nil) : saved[level - 1]
        case .jump(let count):
            noteUncounted(outcome, of: entry)
            return .skip(Int(count))
        }
        return .following
    }

    /// Counts a jump past the end as a failure.
    mutating func countBadJump(of entry: Int) {
        impression = .bad
        cause = Cause(outcome: .failure(.permissionDenied), entry: entry)
    }

    private mutating func noteUncounted(_ outcome: Outcome, of entry: Int) {
        if outcome.failure != nil, firstUncountedFailure == nil {
            firstUncountedFailure = Cause(outcome: outcome, entry: entry)
        }
    }

    /// True if a success has counted, and no failure: a login without modules, or that all modules ignored, is refused.
    var grants: Bool { impression == .good && cause?.outcome == .success }

    /// The failure to report when the walk does not grant; nil if no module failed.
    var failure: Cause? {
        if let cause, cause.outcome.failure != nil { return cause }
        return impression == .bad ? cause : firstUncountedFailure
    }
}
