// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The stored form of a step; its names are looked up when a report is read.
struct StepRecord: Sendable {
    var nanoseconds: UInt64 = 0
    var entry: UInt16 = 0
    var phase = LoginPhase.login
    var outcome = Outcome.ignored
    var action = Action.ignore
    var state = LoginStep.State.undecided
}

/// The steps of a login.
///
/// Four need no allocation: a stack of two modules, login and commit.
struct LoginTrace: ~Copyable, Sendable {
    private static let inlineCount = 4
    private var inline = InlineArray<4, StepRecord>(repeating: StepRecord())
    private var more: [StepRecord] = []
    private var faults: [(step: Int, fault: LoginFault)] = []
    private var storedCount: UInt16 = 0
    private var storedReachedCount: UInt16 = 0
    /// True if the login was granted; set in one place, where the commit phase grants.
    var isGranted = false
    /// The reason for which the login was refused; nil if it was not.
    var refusal: Refusal?
    /// The entry at which a cancellation ended the login phase; nil if none did.
    var cancelledAt: Int?
    /// The effect of outages on the refusal.
    var outage: Outage?

    var count: Int { Int(storedCount) }

    /// The number of steps of the login phase: their modules are committed, aborted and logged out, in that order.
    var reachedCount: Int {
        get { Int(storedReachedCount) }
        set { storedReachedCount = UInt16(truncatingIfNeeded: newValue) }
    }

    subscript(step: Int) -> StepRecord {
        step < Self.inlineCount ? inline[step] : more[step - Self.inlineCount]
    }

    mutating func append(_ step: StepRecord, fault: LoginFault?) {
        if let fault { faults.append((count, fault)) }
        if count < Self.inlineCount {
            inline[count] = step
        } else {
            if more.isEmpty { more.reserveCapacity(8) }
            more.append(step)
        }
        storedCount += 1
    }

    /// Returns whether the call of a contribution succeeded, and its module's commit too.
    func counts(_ contribution: Contribution) -> Bool {
        guard isGranted, contribution.round < count, self[contribution.round].outcome == .success else {
            return false
        }
        switch self[contribution.round].phase {
        case .commit: return true
        case .abort, .logout: return false
        case .login:
            return commitSucceeded(of: self[contribution.round].entry)
        }
    }

    /// All steps, each with the fault thrown in it.
    var all: [(step: StepRecord, fault: LoginFault?)] {
        var all: [(StepRecord, LoginFault?)] = []
        for position in 0..<count {
            all.append((self[position], faults.first { $0.step == position }?.fault))
        }
        return all
    }

    /// Returns whether a contribution is from a module that succeeded in the login phase.
    func succeeded(_ contribution: Contribution) -> Bool {
        guard contribution.round < count else { return false }
        return self[contribution.round].phase == .login && self[contribution.round].outcome == .success
    }

    /// Returns whether a module's commit was called and returned `done`.
    ///
    /// The commit phase may skip modules, so the step is searched for.
    private func commitSucceeded(of entry: UInt16) -> Bool {
        var step = reachedCount
        while step < count, self[step].phase == .commit {
            if self[step].entry == entry { return self[step].outcome == .success }
            step += 1
        }
        return false
    }
}
