// SPDX-License-Identifier: Apache-2.0

/// The phase of a login in which a module is called.
public enum LoginPhase: UInt8, Sendable, Hashable {
    /// ``LoginModule/authenticateUser(_:)``.
    case login
    /// ``LoginModule/commit(_:)``.
    case commit
    /// ``LoginModule/abort(_:)``.
    case abort
    /// ``LoginModule/logout(_:)``.
    case logout

    var decides: Bool { self == .login || self == .commit }

    /// The phase's name in JAAS.
    public var name: String {
        switch self {
        case .login: "login"
        case .commit: "commit"
        case .abort: "abort"
        case .logout: "logout"
        }
    }
}

/// One call of one module, and its effect on the decision.
public struct LoginStep: Sendable {
    /// The state of the decision after a step.
    public enum State: UInt8, Sendable, Hashable {
        /// Nothing has counted yet.
        case undecided
        /// A success has counted, and no failure.
        case granting
        /// A failure has counted.
        case refusing
    }

    /// The module's place in its stack, from 0.
    public let index: Int
    /// The module's name in the configuration.
    public let module: String
    /// The module's control flag or table in the configuration.
    public let control: String
    /// The phase of the call.
    public let phase: LoginPhase
    /// The module's outcome.
    public let outcome: Outcome
    /// The stack's action for the outcome; in the abort phase always ``Action/ignore``.
    public let action: Action
    /// The state of the decision after the step.
    public let state: State
    /// The duration of the call, including the engine's work since the previous call.
    ///
    /// It is zero for the commit, abort and logout of an immediate module, and for all calls if the caller of the login did
    /// not request durations.
    public let duration: Duration
    /// The fault that the module threw; nil if it threw no fault.
    public let fault: LoginFault?
}

/// A note of a module about a call.
public struct LoginNote: Sendable, Hashable {
    /// The module's place in its stack, from 0.
    public let index: Int
    /// The text, without secrets.
    public let text: String
}

/// The stored form of a ``LoginStep``, without names; the names are looked up when a report is read.
struct StepRecord: Sendable {
    var nanoseconds: UInt64 = 0
    var entry: UInt16 = 0
    var phase = LoginPhase.login
    var outcome = Outcome.ignored
    var action = Action.ignore
    var state = LoginStep.State.undecided
}

/// The steps and the result of a login; the first four, enough for login and commit of two modules, need no allocation.
struct LoginTrace: ~Copyable, Sendable {
    private static let inlineCount = 4
    private var inline = InlineArray<4, StepRecord>(repeating: StepRecord())
    private var more: [StepRecord] = []
    private var faults: [(step: Int, fault: LoginFault)] = []
    private var storedCount: UInt16 = 0
    private var storedReachedCount: UInt16 = 0
    /// True if the login was granted; only the end of the commit phase sets it.
    var isGranted = false
    var refusal: Refusal?
    /// The entry at which the login phase was cancelled; nil if it was not cancelled.
    var cancelledAt: Int?
    var outage: Outage?
    /// True if an outage of a locked login counts as wrong credentials, because a secret had been presented.
    var hidesOutage = false

    // Inlined, so that the steps get their initial values where they are stored, and are not copied there.
    @inline(__always)
    init() {}

    var count: Int { Int(storedCount) }

    /// The number of steps of the login phase, whose modules are later committed, aborted or logged out in their order.
    var reachedCount: Int {
        get { Int(storedReachedCount) }
        set { storedReachedCount = UInt16(truncatingIfNeeded: newValue) }
    }

    subscript(step: Int) -> StepRecord {
        step < Self.inlineCount ? inline[step] : more[step - Self.inlineCount]
    }

    /// Adds the fault of the next step.
    mutating func append(_ fault: LoginFault) { faults.append((count, fault)) }

    mutating func append(_ step: StepRecord) {
        if count < Self.inlineCount {
            inline[count] = step
        } else {
            if more.isEmpty { more.reserveCapacity(8) }
            more.append(step)
        }
        storedCount += 1
    }

    /// Returns whether the login was granted, the contributing call succeeded, and the module has committed.
    func counts(_ contribution: Contribution) -> Bool {
        guard isGranted, contribution.round < count, self[contribution.round].outcome == .success else { return false }
        switch self[contribution.round].phase {
        case .commit: return true
        case .abort, .logout: return false
        case .login:
            return commitSucceeded(of: self[contribution.round].entry)
        }
    }

    /// All steps, each with the fault that the module threw.
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

    /// Returns whether a module's commit was called and returned `done`; the commit phase may have skipped the module.
    private func commitSucceeded(of entry: UInt16) -> Bool {
        var step = reachedCount
        while step < count, self[step].phase == .commit {
            if self[step].entry == entry { return self[step].outcome == .success }
            step += 1
        }
        return false
    }
}
