// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The conversation of an ``InteractiveLogin``, between the login stack and the user.
///
/// - A name callback is answered with the user name.
/// - The first password callback is answered with the given password. Later password callbacks with the same prompt get
///   the same answer. The user thus types one password for several modules, as with HTTP Basic.
/// - A certificate callback is answered with the client certificate of the connection on which the login began.
/// - Messages are shown to the user. They do not wait for an answer.
/// - All other callbacks wait for the answer of the user.
final class InteractiveConversation: Conversation {
    private struct Question {
        let number: Int
        let callbacks: [Callback]
        /// The answers that are already known; nil for a callback that only the user can answer.
        let known: [Answer?]
        let continuation: CheckedContinuation<[Answer]?, Never>

        var shown: [Callback] {
            zip(callbacks, known).filter { $0.1 == nil || InteractiveConversation.isMessage($0.0) }.map(\.0)
        }
    }

    private struct State {
        var password: Secret?
        /// The prompt of the first password callback; nil before that callback.
        var prompt: String?
        /// True if the stack has received a secret, which may be an attacker's guess.
        var hasGivenSecret = false
        var hasGivenCertificate = false
        var isClosed = false
        var beforeWaiting: (@Sendable () -> Void)?
        var outcome: MultiRealmLoginReport.Outcome?
        var messages: [String] = []
        /// The questions that wait for the user, of which the first is open.
        ///
        /// Concurrent modules may add further ones.
        var questions: [Question] = []
        var waiting: [CheckedContinuation<InteractiveLogin.Step, Never>] = []

        var step: InteractiveLogin.Step? {
            if let outcome { return .finished(outcome) }
            return questions.first.map { .questions($0.shown, number: $0.number) }
        }

        /// Resumes the callers that wait for a step, which run later, without the lock.
        mutating func wake() {
            guard let step else { return }
            for continuation in waiting { continuation.resume(returning: step) }
            waiting = []
        }
    }

    private let name: String
    /// In DER, verified by TLS.
    private let certificate: [UInt8]?
    private let numbers: QuestionNumbers
    private let state: Mutex<State>

    init(name: String, password: Secret?, certificate: [UInt8]? = nil, numbers: QuestionNumbers) {
        (self.name, self.certificate, self.numbers) = (name, certificate, numbers)
        state = Mutex(State(password: password))
    }

    // MARK: Functions for the login stack

    var presentsSecret: Bool { state.withLock { $0.password != nil || $0.hasGivenSecret } }

    func beforeWaiting(_ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.beforeWaiting = action }
    }

    func answer(_ callbacks: [Callback]) async throws(LoginFault) -> [Answer] {
        let known: [Answer?]? = state.withLock { state in
            guard !state.isClosed else { return nil }
            let known = callbacks.map { self.known($0, &state) }
            guard !known.contains(where: { $0 == nil }) else { return known }
            state.hasGivenSecret = state.hasGivenSecret || known.contains { Self.isSecret($0) }
            for case .message(let text) in callbacks { state.messages.append(text) }
            return known
        }
        guard let known else { throw abandonedFault }
        let complete = known.compactMap { $0 }
        if complete.count == callbacks.count { return complete }
        guard let answers = await ask(callbacks, known) else { throw abandonedFault }
        return answers
    }

    /// Returns the answer to a callback; nil if only the user can answer it.
    private func known(_ callback: Callback, _ state: inout State) -> Answer? {
        switch callback {
        case .name: return .name(name)
        case .certificate:
            guard let certificate else { return Answer.none }
            state.hasGivenCertificate = true
            return .certificate(certificate)
        case .message: return Answer.none
        case .oneTimeCode: return nil
        case .password(let prompt):
            guard let password = state.password, prompt == state.prompt ?? prompt else { return nil }
            state.prompt = prompt
            return .secret(password)
        }
    }

    private func ask(_ callbacks: [Callback], _ known: [Answer?]) async -> [Answer]? {
        let beforeWaiting = state.withLock { $0.beforeWaiting }
        beforeWaiting?()
        let number = numbers.next()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { state in
                    // The cancellation is checked under the lock. A later cancellation then finds the question.
                    guard !state.isClosed, !Task.isCancelled else { return continuation.resume(returning: nil) }
                    state.questions.append(
                        Question(number: number, callbacks: callbacks, known: known, continuation: continuation)
                    )
                    state.wake()
                }
            }
        } onCancel: {
            withdraw(number)
        }
    }

    private func withdraw(_ number: Int) {
        state.withLock { state in
            guard let place = state.questions.firstIndex(where: { $0.number == number }) else { return }
            state.questions.remove(at: place).continuation.resume(returning: nil)
        }
    }

    /// The fault that a stack receives when the user has left the sign-in.
    ///
    /// The second page reveals that the password is right, so a user who leaves that page must cause a failed login.
    /// The throttle counts wrong credentials, but not unavailable modules.
    private var abandonedFault: LoginFault {
        let hasGivenSecret = state.withLock { $0.hasGivenSecret }
        return LoginFault(
            hasGivenSecret ? .wrongCredentials : .missingCredential,
            log: "the user has left the sign-in"
        )
    }

    // MARK: Functions for the user

    var hasGivenCertificate: Bool { state.withLock { $0.hasGivenCertificate } }

    var messages: [String] { state.withLock { $0.messages } }

    func next() async -> InteractiveLogin.Step {
        await withCheckedContinuation { continuation in
            state.withLock { state in
                state.waiting.append(continuation)
                state.wake()
            }
        }
    }

    func receive(_ answers: [Answer], to number: Int) -> Bool {
        state.withLock { state in
            guard let question = state.questions.first, question.number == number else { return false }
            let shown = question.shown
            guard answers.count == shown.count, zip(shown, answers).allSatisfy(Self.fits) else { return false }
            var rest = zip(shown, answers).map(Self.complete)[...]
            for case (.password(let prompt), .secret(let secret)) in zip(shown, rest) where state.password == nil {
                state.password = secret
                state.prompt = prompt
            }
            let all = zip(question.callbacks, question.known).map { callback, known in
                guard known == nil || Self.isMessage(callback) else { return known ?? .none }
                return rest.popFirst() ?? .none
            }
            state.hasGivenSecret = state.hasGivenSecret || all.contains { Self.isSecret($0) }
            state.messages = []
            state.questions.removeFirst()
            question.continuation.resume(returning: all)
            return true
        }
    }

    func finish(_ outcome: MultiRealmLoginReport.Outcome) {
        state.withLock { state in
            state.isClosed = true
            state.beforeWaiting = nil
            state.outcome = outcome
            state.wake()
        }
    }

    /// Closes the conversation: open questions and later questions fail.
    ///
    /// True if the stack has received a secret, which may be an attacker's guess.
    func close() -> Bool {
        state.withLock { state in
            state.isClosed = true
            for question in state.questions { question.continuation.resume(returning: nil) }
            state.questions = []
            return state.hasGivenSecret
        }
    }

    // MARK: Kinds of callbacks and answers

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

    /// Replaces a missing secret by an empty one, which counts as a failed login.
    ///
    /// Otherwise an attacker could reach the second page and stop there without a failed login.
    private static func complete(_ callback: Callback, _ answer: Answer) -> Answer {
        switch (callback, answer) {
        case (.password, .none), (.oneTimeCode, .none): .secret(Secret([]))
        default: answer
        }
    }
}
