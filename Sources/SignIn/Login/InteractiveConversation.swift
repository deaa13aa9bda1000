// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit
internal import Synchronization

/// The conversation of an ``InteractiveLogin``, between the login stack and the user.
///
/// A name callback is always answered with the user name. The first password callback is answered with the given
/// password, and so is every later one with the same prompt: the user types one password for several modules, as with
/// Basic. A certificate callback gets no answer. All other callbacks wait for the user, except messages alone.
final class InteractiveConversation<Outcome: Sendable>: Conversation {
    private struct Question {
        let number: Int
        let callbacks: [Callback]
        /// The answers that are known already; nil for a callback that waits for the user.
        let known: [Answer?]
        let continuation: CheckedContinuation<[Answer]?, Never>

        /// The callbacks that the user is shown.
        var shown: [Callback] {
            zip(callbacks, known).filter { $0.1 == nil || InteractiveConversation.isMessage($0.0) }.map(\.0)
        }
    }

    private struct State {
        var password: Secret?
        /// The prompt that the password answers; nil before the first password callback.
        var prompt: String?
        /// True once the stack has received a secret, which may be a guess.
        var hasGiven = false
        var isClosed = false
        var outcome: Outcome?
        var messages: [String] = []
        var lastNumber = 0
        /// The open question, and after it further ones of modules with several questions at once.
        var questions: [Question] = []
        var waiting: [CheckedContinuation<InteractiveLogin<Outcome>.Step, Never>] = []

        var step: InteractiveLogin<Outcome>.Step? {
            if let outcome { return .finished(outcome) }
            return questions.first.map { .questions($0.shown, number: $0.number) }
        }

        /// Removes the callers that wait for a step, and returns a closure that resumes them; nil if there is none.
        mutating func wake() -> (() -> Void)? {
            guard let step, !waiting.isEmpty else { return nil }
            let woken = waiting
            waiting = []
            return { woken.forEach { $0.resume(returning: step) } }
        }
    }

    private let name: String
    private let state: Mutex<State>

    /// A conversation.
    ///
    /// - Parameters:
    ///   - name: The user name.
    ///   - password: The password; nil if the user types it on a later page.
    init(name: String, password: Secret?) {
        self.name = name
        state = Mutex(State(password: password))
    }

    // MARK: The stack's side

    var presentsSecret: Bool { state.withLock { $0.password != nil || $0.hasGiven } }

    func answer(_ callbacks: [Callback]) async throws(LoginFault) -> [Answer] {
        let known: [Answer?]? = state.withLock { state in
            guard !state.isClosed else { return nil }
            let known = callbacks.map { self.known($0, &state) }
            guard !known.contains(where: { $0 == nil }) else { return known }
            state.hasGiven = state.hasGiven || known.contains { Self.isSecret($0) }
            for case .message(let text) in callbacks { state.messages.append(text) }
            return known
        }
        guard let known else { throw gone }
        let complete = known.compactMap { $0 }
        if complete.count == callbacks.count { return complete }
        guard let answers = await ask(callbacks, known) else { throw gone }
        return answers
    }

    /// Returns the answer that does not need the user; nil if there is none.
    private func known(_ callback: Callback, _ state: inout State) -> Answer? {
        switch callback {
        case .name: return .name(name)
        case .certificate, .message: return Answer.none
        case .oneTimeCode: return nil
        case .password(let prompt):
            guard let password = state.password, prompt == state.prompt ?? prompt else { return nil }
            state.prompt = prompt
            return .secret(password)
        }
    }

    private func ask(_ callbacks: [Callback], _ known: [Answer?]) async -> [Answer]? {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (isGone, wake) = state.withLock { state -> (Bool, (() -> Void)?) in
                    // The check is made under the lock, so that a later cancellation finds the question.
                    guard !state.isClosed, !Task.isCancelled else { return (true, nil) }
                    let question = Question(
                        number: number,
                        callbacks: callbacks,
                        known: known,
                        continuation: continuation
                    )
                    state.questions.append(question)
                    return (false, state.wake())
                }
                if isGone { continuation.resume(returning: nil) }
                wake?()
            }
        } onCancel: {
            withdraw(number)
        }
    }

    private func withdraw(_ number: Int) {
        let question: Question? = state.withLock { state in
            guard let place = state.questions.firstIndex(where: { $0.number == number }) else { return nil }
            return state.questions.remove(at: place)
        }
        question?.continuation.resume(returning: nil)
    }

    /// The fault that a stack receives when the user has left the sign-in.
    ///
    /// A second page reveals something about the password that was typed on the first, so leaving it must cost as much
    /// as a wrong guess. Wrong credentials count for a throttle, whatever the results of the other modules are;
    /// unavailable would not count.
    private var gone: LoginFault {
        let hasGiven = state.withLock { $0.hasGiven }
        return LoginFault(
            hasGiven ? .wrongCredentials : .missingCredential,
            log: "the user has left the sign-in"
        )
    }

    // MARK: The user's side

    /// The messages that came without a question since the last answer.
    var messages: [String] { state.withLock { $0.messages } }

    func next() async -> InteractiveLogin<Outcome>.Step {
        await withCheckedContinuation { continuation in
            let step: InteractiveLogin<Outcome>.Step? = state.withLock { state in
                if let step = state.step { return step }
                state.waiting.append(continuation)
                return nil
            }
            if let step { continuation.resume(returning: step) }
        }
    }

    func take(_ answers: [Answer], to number: Int) -> Bool {
        let resume: (() -> Void)? = state.withLock { state in
            guard let question = state.questions.first, question.number == number else { return nil }
            let shown = question.shown
            guard answers.count == shown.count, zip(shown, answers).allSatisfy(Self.fits) else { return nil }
            var rest = zip(shown, answers).map(Self.complete)[...]
            for case (.password(let prompt), .secret(let secret)) in zip(shown, rest) where state.password == nil {
                state.password = secret
                state.prompt = prompt
            }
            let all = zip(question.callbacks, question.known).map { callback, known in
                guard known == nil || Self.isMessage(callback) else { return known ?? .none }
                return rest.popFirst() ?? .none
            }
            state.hasGiven = state.hasGiven || all.contains { Self.isSecret($0) }
            state.messages = []
            state.questions.removeFirst()
            return { question.continuation.resume(returning: all) }
        }
        resume?()
        return resume != nil
    }

    /// Ends the conversation with the outcome of the login.
    func finish(_ outcome: Outcome) {
        let wake = state.withLock { state in
            state.isClosed = true
            state.outcome = outcome
            return state.wake()
        }
        wake?()
    }

    /// Fails every question, both open and later ones.
    ///
    /// - Returns: True if the stack has received a secret, which may be a guess.
    func close() -> Bool {
        let (questions, hasGiven) = state.withLock { state in
            defer { state.questions = [] }
            state.isClosed = true
            return (state.questions, state.hasGiven)
        }
        questions.forEach { $0.continuation.resume(returning: nil) }
        return hasGiven
    }

    // MARK: Kinds

    private static func isMessage(_ callback: Callback) -> Bool {
        if case .message = callback { true } else { false }
    }

    private static func isSecret(_ answer: Answer?) -> Bool {
        if case .secret? = answer { true } else { false }
    }

    private static func fits(_ callback: Callback, _ answer: Answer) -> Bool {
        switch (callback, answer) {
        case (_, .none), (.name, .name), (.password, .secret), (.oneTimeCode, .secret): true
        case (.name, _), (.password, _), (.oneTimeCode, _), (.certificate, _), (.message, _): false
        }
    }

    /// Returns the answer, or an empty secret for a secret that is missing.
    ///
    /// A missing code would not count as a failure, so an attacker could see the second page at no cost.
    private static func complete(_ callback: Callback, _ answer: Answer) -> Answer {
        switch (callback, answer) {
        case (.password, .none), (.oneTimeCode, .none): .secret(Secret([]))
        default: answer
        }
    }
}
