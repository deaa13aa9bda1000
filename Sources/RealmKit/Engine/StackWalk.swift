// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The decision of a stack: it counts the outcomes of the modules, one after the other.
///
/// It calls no module and does not depend on the names of flags. One walk decides the login phase, another the commit
/// phase, a third a logout.
///
/// Source: `_pam_dispatch_aux` of Linux-PAM for actions, levels, jumps and the check at the end; `LoginContext.invoke`
/// of the JDK for the failure to report (the first that counted, otherwise the first that did not).
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
        let entry: Int
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
    // The impressions that `reset` restores, by level, from level 1; level 0 is reset to the beginning.
    private var saved: [(impression: Impression, cause: Cause?)] = []

    /// Enters a sub-stack.
    mutating func enter(level: Int) {
        while saved.count < level { saved.append((impression, cause)) }
        saved[level - 1] = (impression, cause)
    }

    /// Counts one outcome.
    @inline(__always)
    mutating func count(_ outcome: Outcome, of entry: Int, as action: Action, level: Int) -> Next {
        switch action {
        case .ok, .done:
            // A failure that a table counts as ok keeps the impression good and is refused at the end.
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

    /// True if the walk grants: an outcome has counted, it was a success, and no failure has counted.
    ///
    /// It refuses in every other case, also without modules, and if all modules ignored the login.
    var grants: Bool { impression == .good && cause?.outcome == .success }

    /// The failure to report when the walk does not grant; nil if no module failed.
    var failure: Cause? {
        if let cause, cause.outcome.failure != nil { return cause }
        return impression == .bad ? cause : firstUncountedFailure
    }
}
