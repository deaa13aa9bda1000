// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// What is kept of a step; names are looked up when somebody reads.
struct StepRecord: Sendable {
    var nanoseconds: UInt64 = 0
    var entry: UInt16 = 0
    var phase = LoginPhase.login
    var outcome = Outcome.ignored
    var action = Action.ignore
    var state = LoginStep.State.undecided
}

/// The steps a login took.
///
/// Four fit without an allocation: a stack of two modules, login and commit.
struct LoginPath: ~Copyable, Sendable {
    private static let inlineCount = 4
    private var inline = InlineArray<4, StepRecord>(repeating: StepRecord())
    private var more: [StepRecord] = []
    private var faults: [(step: Int, fault: LoginFault)] = []
    private var count16: UInt16 = 0
    private var reached16: UInt16 = 0
    /// Whether the login was granted: said once, where the commit walk grants, and never assumed.
    var isGranted = false
    /// Why it was refused, if it was.
    var refusal: Refusal?

    var count: Int { Int(count16) }

    /// How many steps the login phase took: those modules are committed, aborted and logged out, in that order.
    var reachedCount: Int {
        get { Int(reached16) }
        set { reached16 = UInt16(truncatingIfNeeded: newValue) }
    }

    subscript(step: Int) -> StepRecord {
        step < Self.inlineCount ? inline[step] : more[step - Self.inlineCount]
    }

    mutating func append(_ step: StepRecord, _ fault: LoginFault?) {
        if let fault { faults.append((count, fault)) }
        if count < Self.inlineCount {
            inline[count] = step
        } else {
            if more.isEmpty { more.reserveCapacity(8) }
            more.append(step)
        }
        count16 += 1
    }

    /// Whether the round a contribution was made in succeeded, and the module's commit did too.
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

    /// All steps, and what was thrown in them.
    var all: [(step: StepRecord, fault: LoginFault?)] {
        var all: [(StepRecord, LoginFault?)] = []
        for position in 0..<count {
            all.append((self[position], faults.first { $0.step == position }?.fault))
        }
        return all
    }

    /// Whether a contribution was made by a module that succeeded in the login phase.
    func succeeded(_ contribution: Contribution) -> Bool {
        guard contribution.round < count else { return false }
        return self[contribution.round].phase == .login && self[contribution.round].outcome == .success
    }

    /// Whether a module's commit was called and was done.
    ///
    /// The commit phase may pass over modules, so it is looked for.
    private func commitSucceeded(of entry: UInt16) -> Bool {
        var step = reachedCount
        while step < count, self[step].phase == .commit {
            if self[step].entry == entry { return self[step].outcome == .success }
            step += 1
        }
        return false
    }
}
