// SPDX-License-Identifier: Apache-2.0

internal import RealmKit
internal import Synchronization

/// A login whose questions the user answers on several pages, in several requests.
///
/// The login runs in a task that this object owns. If the object is released, the login is cancelled. The object may be
/// used from any thread.
final class InteractiveLogin<Outcome: Sendable>: Sendable {
    /// The next step of a login.
    enum Step: Sendable {
        /// The stack has questions.
        ///
        /// Messages of the same call are included, in order.
        case questions([Callback], number: Int)
        /// The login has ended.
        case finished(Outcome)
    }

    private let conversation: InteractiveConversation<Outcome>
    private let task: Task<Void, Never>

    /// Begins a login.
    ///
    /// - Parameters:
    ///   - name: The user name, for modules that request it.
    ///   - password: The password; nil if the user has not typed it yet. See ``InteractiveConversation``.
    ///   - certificate: The client certificate in DER, verified by TLS.
    ///   - numbers: Gives each question its number. Logins that share it have no number in common.
    ///   - login: Runs the login with the conversation.
    init(
        name: String,
        password: Secret?,
        certificate: [UInt8]? = nil,
        numbers: QuestionNumbers = QuestionNumbers(),
        login: @escaping @Sendable (any Conversation) async -> Outcome
    ) {
        let conversation = InteractiveConversation<Outcome>(
            name: name,
            password: password,
            certificate: certificate,
            numbers: numbers
        )
        self.conversation = conversation
        task = Task { conversation.finish(await login(conversation)) }
    }

    deinit { close() }

    /// Waits until the stack has a question for the user or the login has ended.
    ///
    /// The same question is returned until it is answered. If the caller's task is cancelled, the wait continues. The
    /// deadlines of the modules limit the wait.
    ///
    /// - Returns: The questions, or the outcome.
    func next() async -> Step { await conversation.next() }

    /// Answers the open question.
    ///
    /// - Parameters:
    ///   - answers: One answer for each callback of the question, in order. An answer has the kind of its callback, or
    ///     is `none`.
    ///   - number: The question's number.
    /// - Returns: False, and nothing is changed, if another question is open or the answers do not fit the question.
    ///   Another question is open, for example, after the form was sent twice.
    func answer(_ answers: [Answer], to number: Int) -> Bool { conversation.receive(answers, to: number) }

    /// The messages without a question since the last answer.
    var messages: [String] { conversation.messages }

    /// True if a module has received the client certificate.
    var hasGivenCertificate: Bool { conversation.hasGivenCertificate }

    /// Cancels the login.
    ///
    /// All questions of the stack fail, and ``next()`` returns when the stack has ended.
    func cancel() { close() }

    private func close() {
        // If the task is cancelled, the engine reports the login as unavailable, and the throttle does not count the
        // login. After the stack has received a secret, the task is therefore not cancelled: its questions fail, and
        // the throttle counts the failed login.
        if !conversation.close() { task.cancel() }
    }
}

/// The numbers of questions to users.
///
/// Logins share the numbers, so that the answer to a question of one login is not taken for an answer to a question of
/// another login of the same browser.
final class QuestionNumbers: Sendable {
    /// The greatest number, with the nine digits that a number in a JSON body may have.
    ///
    /// After it, the numbers begin again at 1.
    private static let maximum = 999_999_999

    private let last = Atomic(0)

    /// Returns the next number, from 1 on.
    func next() -> Int { last.wrappingAdd(1, ordering: .relaxed).oldValue % Self.maximum + 1 }
}
