// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Synchronization

/// The state of one login: the request, what its modules have contributed, the state they share, and after the decision
/// the steps.
///
/// Every call of a module is a round with a number. The engine closes the round when it receives the module's answer, so
/// later contributions of the round do not count. After the decision the conversation and the shared state are released, so
/// a report contains no secret.
final class LoginRecord: Sendable {
    let request: LoginRequest
    let stack: LoginStack
    /// True if the login may be granted; false if the throttle has locked the account or the client's address.
    let mayGrant: Bool

    /// The time that a round has waited for the conversation.
    struct ConversationTime {
        var total: UInt64 = 0
        var since: UInt64?
        /// The number of open requests: a module may make several at the same time.
        var openQuestions = 0
    }

    /// A login in another realm, and the call of a module that made it.
    struct Nested {
        let module: Int
        let round: Int
        let login: HeldLogin
    }

    private struct State: ~Copyable {
        var conversation: (any Conversation)?
        var contributions: [Contribution] = []
        var nested: [Nested]
        var notes: [LoginNote] = []
        var shared = SharedState()
        /// The rounds that have read or changed the shared state.
        var sharingRounds: [Int] = []
        /// The shared state before the last of these rounds.
        var sharedBefore: SharedState?
        /// The last round to which the conversation gave a secret.
        var secretRound: Int?
        var conversationTimes: [Int: ConversationTime] = [:]
        var trace = LoginTrace()
        /// The groups of `assign-groups` and `group-mapping`, in addition to those that the modules committed.
        var derivedGroups: [String] = []
        var presentedSecret = false
        var isLoggedOut = false
    }

    private let state: Mutex<State>
    /// The number of the current round; earlier rounds are closed.
    private let openRound = Atomic(0)

    init(
        _ request: consuming LoginRequest,
        conversation: any Conversation,
        stack: LoginStack,
        mayGrant: Bool = true,
        nested: [Nested] = []
    ) {
        self.request = consume request
        self.stack = stack
        self.mayGrant = mayGrant
        state = Mutex(State(conversation: conversation, nested: nested))
    }

    func isOpen(round: Int) -> Bool { round == openRound.load(ordering: .acquiring) }

    /// Closes a round after the engine has received its answer.
    func close(round: Int) { openRound.store(round + 1, ordering: .releasing) }

    // MARK: Contributions

    /// Adds what a module contributes if its call counts; returns the number of the contribution, or -1 if the call has ended.
    @discardableResult
    func add(_ contribution: Contribution) -> Int {
        state.withLock { state in
            guard isOpen(round: contribution.round) else { return -1 }
            state.contributions.append(contribution)
            return state.contributions.count - 1
        }
    }

    /// Removes the successes of a round that the module did not return.
    ///
    /// After the call has ended, nothing is removed: the numbers of later successes must stay.
    func keepSuccess(_ number: Int, of round: Int) {
        state.withLock { state in
            guard isOpen(round: round) else { return }
            for index in state.contributions.indices.reversed() where index != number {
                let contribution = state.contributions[index]
                if contribution.round == round, contribution.isSuccess { state.contributions.remove(at: index) }
            }
        }
    }

    /// Returns whether modules that named the user succeeded in the login phase, but none of them could commit: the name in
    /// the request must not replace the name that they determined, so such a login is refused.
    func lacksUser(_ trace: LoginTrace) -> Bool {
        let naming = state.withLock { $0.contributions }.filter { $0.user != nil && trace.succeeded($0) }
        return !naming.isEmpty && !naming.contains(where: trace.counts)
    }

    /// Returns the first user whom a module named that succeeded in the login phase; without one, the name in the request.
    func expectedName(_ trace: LoginTrace) -> Username {
        state.withLock { $0.contributions }.lazy.filter(trace.succeeded).compactMap(\.user).first ?? request.username
    }

    /// Returns the first user whom a module has named by a success before a call; without one, the name in the request.
    func namedUser(before round: Int) -> Username {
        state.withLock { $0.contributions }.lazy.filter { $0.isSuccess && $0.round < round }.compactMap(\.user).first
            ?? request.username
    }

    private var countedContributions: [Contribution] {
        state.withLock { state in
            let trace = state.trace
            return state.contributions.filter(trace.counts)
        }
    }

    /// The first user name of a contribution that counts; if no contribution names a user, the name in the request.
    var establishedName: Username { countedContributions.lazy.compactMap(\.user).first ?? request.username }

    var subject: Subject {
        var subject = committedSubject
        subject.add(derivedGroups.map(Principal.group), from: nil)
        return subject
    }

    /// The principals and attributes that the modules committed, without ``derivedGroups``.
    var committedSubject: Subject {
        var subject = Subject()
        for contribution in countedContributions {
            subject.add(contribution.principals, attributes: contribution.attributes, from: contribution.module)
        }
        return subject
    }

    func isMember(of group: String) -> Bool {
        derivedGroups.contains { $0.hasBytes(of: group) } || countedContributions.contains { $0.isMember(of: group) }
    }

    var derivedGroups: [String] {
        get { state.withLock { $0.derivedGroups } }
        set { state.withLock { $0.derivedGroups = newValue } }
    }

    func note(_ text: String, module: Int, round: Int) {
        state.withLock { state in
            guard isOpen(round: round), state.notes.count < 100 else { return }
            state.notes.append(LoginNote(index: module, text: text))
        }
    }

    var notes: [LoginNote] { state.withLock { $0.notes } }

    func forgetNotes() {
        state.withLock { $0.notes = [] }
        for nested in nested { nested.login.report?.record.forgetNotes() }
    }

    // MARK: The shared state

    /// Reads and changes the shared state; changes of a call that has ended are discarded.
    func withSharedState<Result: Sendable>(round: Int, _ body: (inout SharedState) -> Result) -> Result {
        state.withLock { state in
            guard isOpen(round: round) else {
                var copy = state.shared
                return body(&copy)
            }
            if state.sharingRounds.last != round {
                state.sharingRounds.append(round)
                state.sharedBefore = state.shared
            }
            return body(&state.shared)
        }
    }

    /// Returns whether the outcome of a round may depend on other modules, because it has used the shared state.
    func usedSharedState(round: Int) -> Bool { state.withLock { $0.sharingRounds.contains(round) } }

    /// Restores the shared state before a round whose success does not count: the next module must find the same state as
    /// after a failure.
    func restoreSharedState(before round: Int) {
        state.withLock { state in
            if state.sharingRounds.last == round, let before = state.sharedBefore { state.shared = before }
        }
    }

    /// Returns whether an outcome may show that a secret was right: a success, and whatever else a module returns that may
    /// know a secret, because it finds that the account is disabled or has no groups only after a right password.
    func mayDependOnSecret(_ outcome: Outcome, of round: Int) -> Bool {
        if outcome == .success { return true }
        guard let failure = outcome.failure, failure != .unknownUser, failure != .wrongCredentials else { return false }
        return state.withLock { $0.secretRound == round || $0.sharingRounds.contains(round) }
    }

    // MARK: Logins in other realms

    /// Adds a login in another realm; returns false if the call has ended.
    func add(_ login: HeldLogin, module: Int, round: Int) -> Bool {
        state.withLock { state in
            guard isOpen(round: round) else { return false }
            state.nested.append(Nested(module: module, round: round, login: login))
            return true
        }
    }

    var nested: [Nested] { state.withLock { $0.nested } }

    /// Returns whether a condition is true for this login, or for one that a module has made in another realm.
    func containsLogin(where condition: (LoginRecord) -> Bool) -> Bool {
        condition(self) || nested.contains { $0.login.report?.record.containsLogin(where: condition) == true }
    }

    // MARK: The conversation

    /// Passes callbacks to the conversation, from a module of this login or of one in another realm (`isNested`).
    func ask(_ callbacks: [Callback], round: Int, isNested: Bool) async throws(LoginFault) -> [Answer] {
        // A module that asks again may do so only because the first secret was right. The modules of a nested login have
        // rounds of their own.
        if !mayGrant, !isNested, state.withLock({ $0.secretRound == round }) {
            throw LoginFault(.wrongCredentials, log: "the login is locked: no question after the secret")
        }
        guard let conversation = state.withLock({ $0.conversation }) else {
            throw .internalError("a module used the conversation after the login was decided")
        }
        beginConversation(round: round)
        defer { endConversation(round: round) }
        let answers = try await conversation.answer(callbacks)
        guard answers.count == callbacks.count else {
            throw .internalError("the conversation gave \(answers.count) answers to \(callbacks.count) callbacks")
        }
        if answers.contains(where: \.isSecret) { state.withLock { $0.secretRound = round } }
        return answers
    }

    func beginConversation(round: Int) {
        let now = stack.clock.now
        state.withLock { state in
            var time = state.conversationTimes[round] ?? ConversationTime()
            time.openQuestions += 1
            if time.openQuestions == 1 { time.since = now }
            state.conversationTimes[round] = time
        }
    }

    func endConversation(round: Int) {
        let now = stack.clock.now
        state.withLock { state in
            guard var time = state.conversationTimes[round] else { return }
            time.openQuestions -= 1
            if time.openQuestions == 0, let since = time.since {
                // Another thread may have stored a later time as `since`.
                time.total += now &- min(since, now)
                time.since = nil
            }
            state.conversationTimes[round] = time
        }
    }

    /// Returns the time that a round has waited for the conversation until now, and whether it still waits.
    func conversationTime(round: Int, now: UInt64) -> ConversationTime {
        var time = state.withLock { $0.conversationTimes[round] } ?? ConversationTime()
        if let since = time.since { time.total += now &- min(since, now) }
        return time
    }

    // MARK: The end

    /// The result, and every call of a module; empty until the login is decided.
    var trace: LoginTrace { state.withLock { $0.trace } }

    var isGranted: Bool { state.withLock { $0.trace.isGranted } }

    /// Stores the result and the steps, and releases the conversation and the shared state.
    func seal(_ trace: inout LoginTrace) {
        let isRefused = !trace.isGranted
        let (conversation, nested) = state.withLock { state in
            swap(&state.trace, &trace)
            if state.sharedBefore != nil { (state.shared, state.sharedBefore) = (SharedState(), nil) }
            state.presentedSecret = isRefused && state.secretRound != nil
            return (state.conversation.take(), state.nested)
        }
        for nested in nested { nested.login.discard() }
        // Read outside the lock, because a conversation may have its own lock.
        guard isRefused, conversation?.presentsSecret == true else { return }
        state.withLock { $0.presentedSecret = true }
    }

    /// True if a secret was presented in a refused login.
    var presentedSecret: Bool { state.withLock { $0.presentedSecret } }

    /// Marks the login as logged out; returns false if it was marked before.
    func beginLogout() -> Bool {
        state.withLock { state in
            defer { state.isLoggedOut = true }
            return !state.isLoggedOut
        }
    }
}
