// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Synchronization

/// The memory of one login: who asked, what the modules have committed and share, and, once it is decided, how it went.
///
/// Every call of a module is a round with a number of its own, and whatever a module commits bears that number. When the
/// engine has stopped waiting for a module, that round did not succeed, so nothing the module does later can count. When
/// the login is decided the conversation is let go: a report that is kept keeps no secret.
final class LoginRecord: Sendable {
    let request: LoginRequest
    let stack: LoginStack

    /// How long a round has been waiting for the other end of the conversation.
    struct Asking {
        var total: UInt64 = 0
        var since: UInt64?
    }

    private struct State: ~Copyable {
        var conversation: (any Conversation)?
        // Most logins are one contribution and share nothing; for them this is all there is.
        var first: Contribution?
        var path = LoginPath()
        // An array of none or one, so that a record is cheap to make and drop.
        private var box: [Rare] = []

        var rare: Rare {
            get { box.first ?? Rare() }
            _modify {
                if box.isEmpty { box.append(Rare()) }
                yield &box[0]
            }
        }

        init(_ conversation: any Conversation) {
            self.conversation = conversation
        }
    }

    /// What few logins have.
    private struct Rare {
        var more: [Contribution] = []
        var shared = SharedState()
        var asked: [Int: Asking] = [:]
    }

    private let state: Mutex<State>

    init(_ request: consuming LoginRequest, _ conversation: any Conversation, _ stack: LoginStack) {
        self.request = request
        self.stack = stack
        state = Mutex(State(conversation))
    }

    func add(_ contribution: Contribution) {
        state.withLock { state in
            if state.first == nil { state.first = contribution } else { state.rare.more.append(contribution) }
        }
    }

    func withShared<Result: Sendable>(_ body: (inout SharedState) -> Result) -> Result {
        state.withLock { body(&$0.rare.shared) }
    }

    // MARK: The conversation

    func conversation() throws(LoginFault) -> any Conversation {
        guard let conversation = state.withLock({ $0.conversation }) else {
            throw .internalError("a module asked something after the login was decided")
        }
        return conversation
    }

    func beginAsking(round: Int) {
        let now = stack.clock.now
        state.withLock { $0.rare.asked[round, default: Asking()].since = now }
    }

    func endAsking(round: Int) {
        let now = stack.clock.now
        state.withLock { state in
            guard let since = state.rare.asked[round]?.since else { return }
            state.rare.asked[round]?.total += now - since
            state.rare.asked[round]?.since = nil
        }
    }

    /// How long a round has waited for its conversation up to now, and whether it still does.
    func asking(round: Int) -> Asking {
        let now = stack.clock.now
        var asking = state.withLock { $0.rare.asked[round] } ?? Asking()
        if let since = asking.since { asking.total += now - since }
        return asking
    }

    // MARK: The end

    /// Notes how it went and lets go of what only the login needed.
    func seal(_ path: inout LoginPath) {
        state.withLock { state in
            swap(&state.path, &path)
            state.conversation = nil
        }
    }

    /// Why it was refused, if it was.
    var refusal: Refusal? { state.withLock { $0.path.refusal } }

    /// Every call of a module, in order; none until the login is decided.
    var steps: [LoginStep] {
        state.withLock { $0.path.all }.map { step, fault in
            let entry = stack.entries[Int(step.entry)]
            return LoginStep(
                index: Int(step.entry),
                module: entry.name,
                control: entry.control,
                phase: step.phase,
                outcome: step.outcome,
                action: step.action,
                state: step.state,
                duration: .nanoseconds(Int64(clamping: step.nanoseconds)),
                fault: fault
            )
        }
    }

    /// The steps of the login phase: the modules reached, in order.
    var reached: [StepRecord] {
        state.withLock { $0.path.all }.map(\.step).filter { $0.phase == .login }
    }

    /// The user as the first module that counts and names one spells it, else the name that was given.
    var establishedName: Username {
        counting.lazy.compactMap { $0.user(given: self.request.username) }.first ?? request.username
    }

    /// What counts of all that modules have committed.
    var subject: Subject {
        var subject = Subject()
        for contribution in counting {
            subject.add(contribution.principals(given: request.username), from: contribution.module)
        }
        return subject
    }

    func isMember(of group: String) -> Bool {
        counting.contains { $0.isMember(of: group) }
    }

    private var counting: [Contribution] {
        state.withLock { state in
            var counting: [Contribution] = []
            if let first = state.first, state.path.counts(first) { counting.append(first) }
            for contribution in state.rare.more where state.path.counts(contribution) { counting.append(contribution) }
            return counting
        }
    }
}
