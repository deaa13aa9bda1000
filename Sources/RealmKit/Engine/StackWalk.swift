// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The dispatcher: what a stack makes of its modules' outcomes, one after the other.
///
/// This is the whole decision of a login and nothing else: it calls no module and knows no flag by name. One walk decides
/// the login phase, another the commit phase, a third a logout.
///
/// Source: `_pam_dispatch_aux` of Linux-PAM for actions, levels, jumps and the guard at the end; `LoginContext.invoke` of
/// the JDK for which failure is reported (the first that counted, else the first that did not).
struct StackWalk {
    /// What the outcomes so far amount to.
    enum Impression: UInt8, Sendable {
        /// Nothing has counted yet.
        case undecided
        /// There has been a yes and no no.
        case good
        /// There has been a no.
        case bad
    }

    /// An outcome and whose it was.
    struct Cause {
        let outcome: Outcome
        let entry: Int
    }

    /// Where the walk goes next.
    enum Next {
        case on
        case leave(level: Int)
        case skip(Int)
    }

    private(set) var impression = Impression.undecided
    private var cause: Cause?
    private var passedOver: Cause?
    // What to return to by `reset`, by level, from level 1; level 0 returns to the beginning.
    private var saved: [(impression: Impression, cause: Cause?)] = []

    /// Notes that a sub-stack begins.
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
            notePassedOver(outcome, entry)
        case .reset:
            (impression, cause) = level == 0 || saved.count < level ? (.undecided, nil) : saved[level - 1]
        case .jump(let count):
            notePassedOver(outcome, entry)
            return .skip(Int(count))
        }
        return .on
    }

    /// Counts a jump past the end as a no.
    mutating func countBadJump(of entry: Int) {
        impression = .bad
        cause = Cause(outcome: .failure(.permissionDenied), entry: entry)
    }

    private mutating func notePassedOver(_ outcome: Outcome, _ entry: Int) {
        if outcome.failure != nil, passedOver == nil { passedOver = Cause(outcome: outcome, entry: entry) }
    }

    /// Whether the walk has ended in a yes: something counted, nothing was a no, and what counted was a success.
    ///
    /// Anything else refuses, an empty walk and one in which all were ignored included.
    var grants: Bool { impression == .good && cause?.outcome == .success }

    /// Which failure to report when the walk does not grant; nil if no module failed.
    var failure: Cause? {
        if let cause, cause.outcome.failure != nil { return cause }
        return impression == .bad ? cause : passedOver
    }
}
