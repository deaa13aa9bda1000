// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Synchronization

/// The memory of one login: who asked, what the modules have committed and share, and, once it is decided, how it went.
///
/// Every call of a module is a round with a number of its own, and whatever a module commits bears that number. When the
/// engine has taken an answer the round is closed, so nothing the module does later can count. When the login is decided
/// the conversation and what the modules share are let go: a report that is kept keeps no secret.
final class LoginRecord: Sendable {
    let request: LoginRequest
    let stack: LoginStack

    /// How long a round has been waiting for the other end of the conversation.
    struct Asking {
        var total: UInt64 = 0
        var since: UInt64?
        /// How many questions are open: a module may ask several at the same time.
        var questions = 0
    }

    private struct State: ~Copyable {
        var conversation: (any Conversation)?
        // Most logins are one contribution and share nothing; for them this is all there is.
        var first: Contribution?
        var more: [Contribution] = []
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

        mutating func forgetShared() {
            guard !box.isEmpty else { return }
            box[0].shared = SharedState()
            box[0].before = nil
        }
    }

    /// What few logins have.
    private struct Rare {
        var shared = SharedState()
        /// What was shared before a round changed it.
        var before: (round: Int, shared: SharedState)?
        var asked: [Int: Asking] = [:]
        var notes: [LoginNote] = []
    }

    private let state: Mutex<State>
    /// The round that is going on; what belongs to an earlier one comes too late.
    private let openRound = Atomic(0)

    init(_ request: consuming LoginRequest, _ conversation: any Conversation, _ stack: LoginStack) {
        self.request = consume request
        self.stack = stack
        state = Mutex(State(conversation))
    }

    /// Keeps a contribution, unless its round is closed.
    ///
    /// - Returns: Its number; -1 if it is not kept.
    @discardableResult
    func add(_ contribution: Contribution) -> Int {
        state.withLock { state in
            guard contribution.round == openRound.load(ordering: .acquiring) else { return -1 }
            if state.first == nil {
                state.first = contribution
                return 0
            }
            if state.more.isEmpty { state.more.reserveCapacity(4) }
            state.more.append(contribution)
            return state.more.count
        }
    }

    /// Notes which of the successes a module has made it has returned; what came with the others is void.
    func accept(_ number: Int, of round: Int) {
        state.withLock { state in
            guard !state.more.isEmpty else { return }
            if state.first?.round == round, state.first?.isCommit == true, number != 0 { state.first?.isVoid = true }
            for index in state.more.indices where state.more[index].round == round && state.more[index].isCommit {
                if index + 1 != number { state.more[index].isVoid = true }
            }
        }
    }

    /// Whether a module that succeeded has said who this is, and nothing of the kind counts in the end.
    ///
    /// The name that was typed must not stand for one that a module knows better and could not complete.
    func hasLostItsName(_ path: borrowing LoginPath) -> Bool {
        let all = state.withLock { state in (state.first.map { [$0] } ?? []) + state.more }
        var isNamed = false
        for contribution in all where !contribution.isVoid && contribution.saysWho && path.succeeded(contribution) {
            if path.counts(contribution) { return false }
            isNamed = true
        }
        return isNamed
    }

    /// Notes that a round has had its answer.
    func close(round: Int) {
        openRound.store(round + 1, ordering: .releasing)
    }

    /// Reads and changes what modules share; what a closed round changes is lost.
    func withShared<Result: Sendable>(_ round: Int, _ body: (inout SharedState) -> Result) -> Result {
        state.withLock { state in
            if round == openRound.load(ordering: .acquiring) {
                if state.rare.before?.round != round { state.rare.before = (round, state.rare.shared) }
                return body(&state.rare.shared)
            }
            var copy = state.rare.shared
            return body(&copy)
        }
    }

    /// Takes back what a round has shared: its yes was not heard, so the next module must find what it finds after a no.
    func takeBackShared(_ round: Int) {
        state.withLock { state in
            if let before = state.rare.before, before.round == round { state.rare.shared = before.shared }
        }
    }

    /// Keeps what a module notes about a call, unless the call is over or has noted more than enough.
    func note(_ text: String, module: Int, round: Int) {
        state.withLock { state in
            guard round == openRound.load(ordering: .acquiring), state.rare.notes.count < 100 else { return }
            state.rare.notes.append(LoginNote(index: module, text: text))
        }
    }

    /// What modules have noted.
    var notes: [LoginNote] { state.withLock { $0.rare.notes } }

    // MARK: The conversation

    func conversation() throws(LoginFault) -> any Conversation {
        guard let conversation = state.withLock({ $0.conversation }) else {
            throw .internalError("a module asked something after the login was decided")
        }
        return conversation
    }

    func beginAsking(round: Int) {
        let now = stack.clock.now
        state.withLock { state in
            state.rare.asked[round, default: Asking()].questions += 1
            if state.rare.asked[round]?.questions == 1 { state.rare.asked[round]?.since = now }
        }
    }

    func endAsking(round: Int) {
        let now = stack.clock.now
        state.withLock { state in
            state.rare.asked[round]?.questions -= 1
            guard let asking = state.rare.asked[round], asking.questions == 0, let since = asking.since else { return }
            // Another thread may have looked at the clock after this one, and been here before.
            state.rare.asked[round]?.total += now &- min(since, now)
            state.rare.asked[round]?.since = nil
        }
    }

    /// How long a round has waited for its conversation up to now, and whether it still does.
    func asking(round: Int, now: UInt64) -> Asking {
        var asking = state.withLock { $0.rare.asked[round] } ?? Asking()
        if let since = asking.since { asking.total += now &- min(since, now) }
        return asking
    }

    // MARK: The end

    /// Notes how it went and lets go of what only the login needed.
    func seal(_ path: inout LoginPath) {
        state.withLock { state in
            swap(&state.path, &path)
            state.conversation = nil
            state.forgetShared()
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
            if let first = state.first, !first.isVoid, state.path.counts(first) { counting.append(first) }
            for contribution in state.more where !contribution.isVoid && state.path.counts(contribution) {
                counting.append(contribution)
            }
            return counting
        }
    }
}
