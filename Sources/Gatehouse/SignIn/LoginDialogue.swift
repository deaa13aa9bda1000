// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit

/// One login whose questions are put to a person, page by page, over several requests.
///
/// The login runs in a task that the dialogue owns. A dialogue that is dropped has been cancelled. It may be used from
/// any thread.
final class LoginDialogue<Outcome: Sendable>: Sendable {
    /// What comes next.
    enum Step: Sendable {
        /// The stack asks; messages that came in the same breath stand among the questions, in their order.
        case questions([Callback], number: Int)
        /// The login has come to its end.
        case finished(Outcome)
    }

    private let exchange: DialogueExchange<Outcome>
    private let task: Task<Void, Never>

    /// Begins a login.
    ///
    /// - Parameters:
    ///   - name: The user name, for whoever asks for it.
    ///   - password: The password, if it has been given already; see ``DialogueExchange``.
    ///   - login: Makes the login, asking the conversation.
    init(name: String, password: Secret?, login: @escaping @Sendable (any Conversation) async -> Outcome) {
        let exchange = DialogueExchange<Outcome>(name: name, password: password)
        self.exchange = exchange
        task = Task { exchange.finish(await login(exchange)) }
    }

    deinit { hangUp() }

    /// What comes next: waits until the stack asks something that only a person can answer, or has come to its end.
    ///
    /// The same question is given again until it is answered. It waits even if the caller's task is cancelled: for no
    /// longer than modules may take.
    ///
    /// - Returns: The questions, or the outcome.
    func next() async -> Step { await exchange.next() }

    /// Answers the question that is open.
    ///
    /// - Parameters:
    ///   - answers: One for each callback of the question, in their order; of the kind that was asked for, or none.
    ///   - number: The question's number.
    /// - Returns: False, and nothing happens, if that is not the question that is open (a form sent twice, an old page),
    ///   or these are no answers to it.
    func answer(_ answers: [Answer], to number: Int) -> Bool { exchange.take(answers, to: number) }

    /// The messages that came without a question since the last one was answered.
    var messages: [String] { exchange.messages }

    /// Ends it: the stack hears that nobody is there any more, and ``next()`` returns as soon as it has come to its end.
    func cancel() { hangUp() }

    private func hangUp() {
        // An engine whose task is cancelled calls the login unavailable, which no throttle counts. Once something has been
        // given, the login goes on to its end, where every question fails and the failure counts.
        if !exchange.close() { task.cancel() }
    }
}
