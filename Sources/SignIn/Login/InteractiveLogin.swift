// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit

/// One login whose questions the user answers page by page, over several requests.
///
/// The login runs in a task that this object owns. Releasing the object cancels the login. It may be used from any
/// thread.
final class InteractiveLogin<Outcome: Sendable>: Sendable {
    /// The next step of a login.
    enum Step: Sendable {
        /// The stack has questions; messages that came with them are among them, in their order.
        case questions([Callback], number: Int)
        /// The login has ended.
        case finished(Outcome)
    }

    private let exchange: InteractiveConversation<Outcome>
    private let task: Task<Void, Never>

    /// Begins a login.
    ///
    /// - Parameters:
    ///   - name: The user name, for the modules that request it.
    ///   - password: The password, if the user has typed it already; see ``InteractiveConversation``.
    ///   - login: Runs the login with the conversation.
    init(name: String, password: Secret?, login: @escaping @Sendable (any Conversation) async -> Outcome) {
        let exchange = InteractiveConversation<Outcome>(name: name, password: password)
        self.exchange = exchange
        task = Task { exchange.finish(await login(exchange)) }
    }

    deinit { close() }

    /// Waits until the stack has a question that only the user can answer, or the login has ended.
    ///
    /// The same question is returned until it is answered. The call waits even if the caller's task is cancelled, but
    /// for no longer than modules may take.
    ///
    /// - Returns: The questions, or the outcome.
    func next() async -> Step { await exchange.next() }

    /// Answers the open question.
    ///
    /// - Parameters:
    ///   - answers: One answer for each callback of the question, in order: of the callback's kind, or none.
    ///   - number: The question's number.
    /// - Returns: False, without any effect, if another question is open (a form sent twice, an old page), or the
    ///   answers do not fit the question.
    func answer(_ answers: [Answer], to number: Int) -> Bool { exchange.take(answers, to: number) }

    /// The messages that came without a question since the last answer.
    var messages: [String] { exchange.messages }

    /// Ends the login: every question of the stack fails, and ``next()`` returns as soon as the stack has ended.
    func cancel() { close() }

    private func close() {
        // An engine whose task is cancelled reports the login as unavailable, which no throttle counts. Once the stack
        // has received a secret, the login goes on to its end: every question fails, and the failure counts.
        if !exchange.close() { task.cancel() }
    }
}
