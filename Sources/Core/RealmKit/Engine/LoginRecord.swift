// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Synchronization

/// The state of one login: the request, the committed principals, the shared state, and the steps after the decision.
///
/// Every call of a module is a round with a number. The engine closes the round when it receives the module's answer, so
/// later contributions of the round do not count. After the decision the conversation and the shared state are released, so
/// a report contains no secret.
final class LoginRecord: NestingLogin {
    let request: LoginRequest
    let stack: LoginStack
    let mayGrant: Bool

    /// The time that a round has waited for the conversation.
    struct ConversationTime {
        var total: UInt64 = 0
        var since: UInt64?
        /// The number of open requests: a module may make several at the same time.
        var openQuestions = 0
    }

    private struct State: ~Copyable {
        var conversation: (any Conversation)?
        // Most logins have one contribution and no shared state. They need no memory for the rare state.
        var first: Contribution?
        var more: [Contribution] = []
        var trace = LoginTrace()
        // An array with at most one element: an empty array is cheap to create and destroy.
        private var box: [RareState] = []

        var rare: RareState {
            get { box.first ?? RareState() }
            _modify {
                if box.isEmpty { box.append(RareState()) }
                yield &box[0]
            }
        }

        var nested: [Nested] { box.first?.nested ?? [] }

        /// The last round to which the conversation gave a secret; nil if it gave none.
        var secretRound: Int? { box.first?.secretRound }

        /// True if the module of a round may know a secret, from the conversation or from another module.
        func mayKnowSecret(round: Int) -> Bool {
            secretRound == round || box.first?.sharingRounds.contains(round) == true
        }

        @inline(__always)
        init(_ conversation: any Conversation, nested: [Nested]) {
            self.conversation = conversation
            if !nested.isEmpty { rare.nested = nested }
        }

        mutating func forgetNotes() {
            guard !box.isEmpty else { return }
            box[0].notes = []
        }

        mutating func forgetSharedState() {
            guard !box.isEmpty else { return }
            box[0].shared = SharedState()
            box[0].before = nil
        }
    }

    /// The state that most logins do not need.
    private struct RareState {
        var shared = SharedState()
        /// The shared state before a round changed it.
        var before: (round: Int, shared: SharedState)?
        var conversations: [Int: ConversationTime] = [:]
        var notes: [LoginNote] = []
        /// The rounds that have read or changed the shared state.
        var sharingRounds: [Int] = []
        /// The last round to which the conversation gave a secret.
        var secretRound: Int?
        /// The logins in other realms that modules have made.
        var nested: [Nested] = []
    }

    /// A login in another realm, and the call of a module that made it.
    struct Nested {
        let module: Int
        let round: Int
        let login: HeldLogin
    }

    private let state: Mutex<State>
    /// The number of the current round; earlier rounds are closed.
    private let openRound = Atomic(0)
    /// True if there is more than one contribution; set under the lock of the state, read without it.
    private let hasMore = Atomic(false)
    private let isLoggedOut = Atomic(false)
    private let hasPresentedSecret = Atomic(false)

    var username: Username { request.username }
    var realm: String { request.realm }
    var service: String { request.service }
    var peer: String? { request.peer }

    init(
        _ request: consuming LoginRequest,
        conversation: any Conversation,
        stack: LoginStack,
        mayGrant: Bool = true,
        undoing login: LoginRecord? = nil
    ) {
        self.request = consume request
        self.stack = stack
        self.mayGrant = mayGrant
        state = Mutex(State(conversation, nested: login?.nestedLogins ?? []))
    }

    @discardableResult
    func add(_ contribution: consuming Contribution) -> Int {
        let round = contribution.round
        // An optional, because a closure cannot consume a value that it captures.
        var added: Contribution? = consume contribution
        return state.withLock { state in
            guard isOpen(round: round), let contribution = added.take() else { return -1 }
            if state.first == nil {
                state.first = contribution
                return 0
            }
            if state.more.isEmpty { state.more.reserveCapacity(4) }
            state.more.append(contribution)
            hasMore.store(true, ordering: .releasing)
            return state.more.count
        }
    }

    /// Records which success a module returned; the other successes of the round become void.
    func markReturned(_ number: Int, of round: Int) {
        guard hasMore.load(ordering: .acquiring) else { return }
        state.withLock { state in
            if state.first?.round == round, state.first?.isCommit == true, number != 0 { state.first?.isVoid = true }
            for index in state.more.indices where state.more[index].round == round && state.more[index].isCommit {
                if index + 1 != number { state.more[index].isVoid = true }
            }
        }
    }

    /// Returns whether modules that named the user succeeded in the login phase, but none of them could commit: the name in
    /// the request must not replace the name that they determined, so such a login is refused.
    func lacksUser(_ trace: borrowing LoginTrace) -> Bool {
        let all = state.withLock { state in (state.first.map { [$0] } ?? []) + state.more }
        var isNamed = false
        for contribution in all where !contribution.isVoid && contribution.namesUser && trace.succeeded(contribution) {
            if trace.counts(contribution) { return false }
            isNamed = true
        }
        return isNamed
    }

    /// Returns the first user whom a module named that succeeded in the login phase; without one, the name in the request.
    func expectedName(_ trace: borrowing LoginTrace) -> Username {
        let all = state.withLock { state in (state.first.map { [$0] } ?? []) + state.more }
        for contribution in all where !contribution.isVoid && trace.succeeded(contribution) {
            if let user = contribution.user(requested: request.username) { return user }
        }
        return request.username
    }

    /// Closes a round after the engine has received its answer.
    func close(round: Int) {
        openRound.store(round + 1, ordering: .releasing)
    }

    func withSharedState<Result: Sendable>(round: Int, _ body: (inout SharedState) -> Result) -> Result {
        state.withLock { state in
            if isOpen(round: round) {
                if state.rare.sharingRounds.last != round { state.rare.sharingRounds.append(round) }
                if state.rare.before?.round != round { state.rare.before = (round, state.rare.shared) }
                return body(&state.rare.shared)
            }
            var copy = state.rare.shared
            return body(&copy)
        }
    }

    /// The rounds that have read or changed the shared state; their outcomes may depend on other modules.
    var roundsUsingSharedState: [Int] { state.withLock { $0.rare.sharingRounds } }

    /// Returns whether an outcome may show that a secret was right: a success, and whatever else a module returns that may
    /// know a secret, because it finds that the account is disabled or has no groups only after a right password.
    func mayDependOnSecret(_ outcome: Outcome, of round: Int) -> Bool {
        if outcome == .success { return true }
        guard let failure = outcome.failure, failure != .unknownUser, failure != .wrongCredentials else { return false }
        return state.withLock { $0.mayKnowSecret(round: round) }
    }

    /// Restores the shared state before a round whose success does not count: the next module must find the same state as
    /// after a failure.
    func restoreSharedState(before round: Int) {
        state.withLock { state in
            if let before = state.rare.before, before.round == round { state.rare.shared = before.shared }
        }
    }

    func note(_ text: String, module: Int, round: Int) {
        state.withLock { state in
            guard isOpen(round: round), state.rare.notes.count < 100 else { return }
            state.rare.notes.append(LoginNote(index: module, text: text))
        }
    }

    /// Marks the login as logged out; returns false if it was marked before.
    func beginLogout() -> Bool { !isLoggedOut.exchange(true, ordering: .acquiringAndReleasing) }

    func forgetNotes() {
        state.withLock { $0.forgetNotes() }
        for nested in nestedLogins { nested.login.report?.record.forgetNotes() }
    }

    var notes: [LoginNote] { state.withLock { $0.rare.notes } }

    // MARK: Logins in other realms

    func addNested(_ login: HeldLogin, module: Int, round: Int) -> Bool {
        state.withLock { state in
            guard isOpen(round: round) else { return false }
            state.rare.nested.append(Nested(module: module, round: round, login: login))
            return true
        }
    }

    func isOpen(round: Int) -> Bool { round == openRound.load(ordering: .acquiring) }

    func nestedLogins(of module: Int) -> [HeldLogin] {
        nestedLogins.filter { $0.module == module }.map(\.login)
    }

    var nestedLogins: [Nested] { state.withLock { $0.nested } }

    /// True if a module was unavailable or broken, in this realm or in a realm that it uses.
    var metOutage: Bool {
        steps.contains { $0.phase.decides && $0.outcome.isOutage }
            || nestedLogins.contains { $0.login.report?.record.metOutage == true }
    }

    /// True if a module was overloaded, in this realm or in a realm that it uses.
    var metOverload: Bool {
        steps.contains { $0.phase.decides && $0.outcome == .failure(.overloaded) }
            || nestedLogins.contains { $0.login.report?.record.metOverload == true }
    }

    /// True if the engine has ended a call at its deadline, in this realm or in a realm that it uses.
    var metDeadline: Bool {
        steps.contains { $0.phase.decides && $0.fault?.isLate == true }
            || nestedLogins.contains { $0.login.report?.record.metDeadline == true }
    }

    /// True if an outage of this locked login counts as wrong credentials, in this realm or in a realm that it uses.
    var hidesOutage: Bool {
        state.withLock { $0.trace.hidesOutage } || nestedLogins.contains { $0.login.report?.record.hidesOutage == true }
    }

    // MARK: The conversation

    func ask(_ callbacks: [Callback], round: Int, isNested: Bool) async throws(LoginFault) -> [Answer] {
        // A module that asks again may do so only because the first secret was right. The modules of a nested login have
        // rounds of their own.
        if !mayGrant, !isNested, state.withLock({ $0.secretRound == round }) {
            throw LoginFault(.wrongCredentials, log: "the login is locked: no question after the secret")
        }
        beginConversation(round: round)
        defer { endConversation(round: round) }
        let answers = try await conversation().answer(callbacks)
        guard answers.count == callbacks.count else {
            throw .internalError("the conversation gave \(answers.count) answers to \(callbacks.count) callbacks")
        }
        if answers.contains(where: \.isSecret) { state.withLock { $0.rare.secretRound = round } }
        return answers
    }

    private func conversation() throws(LoginFault) -> any Conversation {
        guard let conversation = state.withLock({ $0.conversation }) else {
            throw .internalError("a module used the conversation after the login was decided")
        }
        return conversation
    }

    func beginConversation(round: Int) {
        let now = stack.clock.now
        state.withLock { state in
            state.rare.conversations[round, default: ConversationTime()].openQuestions += 1
            if state.rare.conversations[round]?.openQuestions == 1 { state.rare.conversations[round]?.since = now }
        }
    }

    func endConversation(round: Int) {
        let now = stack.clock.now
        state.withLock { state in
            state.rare.conversations[round]?.openQuestions -= 1
            guard let time = state.rare.conversations[round], time.openQuestions == 0, let since = time.since else {
                return
            }
            // Another thread may have stored a later time as `since`.
            state.rare.conversations[round]?.total += now &- min(since, now)
            state.rare.conversations[round]?.since = nil
        }
    }

    /// Returns the time that a round has waited for the conversation until now, and whether it still waits.
    func conversationTime(round: Int, now: UInt64) -> ConversationTime {
        var time = state.withLock { $0.rare.conversations[round] } ?? ConversationTime()
        if let since = time.since { time.total += now &- min(since, now) }
        return time
    }

    // MARK: The end

    /// Stores the steps and releases the conversation and the shared state.
    func seal(_ trace: inout LoginTrace) {
        let isRefused = !trace.isGranted
        let (conversation, deliveredSecret, nested) = state.withLock { state -> ((any Conversation)?, Bool, [Nested]) in
            swap(&state.trace, &trace)
            let conversation = state.conversation.take()
            state.forgetSharedState()
            return (conversation, state.secretRound != nil, state.nested)
        }
        for login in nested { login.login.discard() }
        guard isRefused else { return }
        // Read outside the lock, because a conversation may have its own lock.
        guard deliveredSecret || conversation?.presentsSecret == true else { return }
        hasPresentedSecret.store(true, ordering: .relaxed)
    }

    var refusal: Refusal? { state.withLock { $0.trace.refusal } }

    /// True if the login was cancelled after it had called a module.
    var wasCancelledInModule: Bool {
        state.withLock { $0.trace.cancelledAt != nil && $0.trace.reachedCount > 0 }
    }

    var outage: Outage? { state.withLock { $0.trace.outage } }

    /// True if a secret was presented in a refused login.
    var presentedSecret: Bool { hasPresentedSecret.load(ordering: .relaxed) }

    /// Every call of a module, in order; empty until the login is decided.
    var steps: [LoginStep] {
        state.withLock { $0.trace.all }.map { step, fault in
            let entry = stack.entries[Int(step.entry)].entry
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

    /// The steps of the login phase, one for each module reached, in order.
    var reached: [StepRecord] {
        state.withLock { $0.trace.all }.map(\.step).filter { $0.phase == .login }
    }

    /// The first user name of a contribution that counts; if no contribution names a user, the name in the request.
    var establishedName: Username {
        countedContributions.lazy.compactMap { $0.user(requested: self.request.username) }.first ?? request.username
    }

    var subject: Subject {
        var subject = Subject()
        for contribution in countedContributions {
            subject.add(
                contribution.principals(requested: request.username),
                attributes: contribution.attributes,
                from: contribution.module
            )
        }
        return subject
    }

    var attributes: [UserAttribute] {
        var all: [UserAttribute] = []
        for contribution in countedContributions { all.merge(contribution.attributes) }
        return all
    }

    func isMember(of group: String) -> Bool {
        countedContributions.contains { $0.isMember(of: group) }
    }

    private var countedContributions: [Contribution] {
        state.withLock { state in
            var countedContributions: [Contribution] = []
            if let first = state.first, !first.isVoid, state.trace.counts(first) { countedContributions.append(first) }
            for contribution in state.more where !contribution.isVoid && state.trace.counts(contribution) {
                countedContributions.append(contribution)
            }
            return countedContributions
        }
    }
}
