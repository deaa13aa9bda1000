// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A login whose questions the user answers on several pages, in several requests.
///
/// The login runs in a task that this object owns, and is cancelled if the object is released. It may be used from any
/// thread.
package final class InteractiveLogin: Sendable {
    package enum Step: Sendable {
        /// The questions of the stack, with the messages of the same call in order.
        case questions([Callback], number: Int)
        case finished(MultiRealmLoginReport.Outcome)
    }

    private let conversation: InteractiveConversation
    private let task: Task<Void, Never>

    /// Begins a login; logins that share their numbers have no number of a question in common.
    package init(
        name: String,
        password: Secret?,
        certificate: [UInt8]? = nil,
        numbers: QuestionNumbers,
        login: @escaping @Sendable (any Conversation) async -> MultiRealmLoginReport.Outcome
    ) {
        let conversation = InteractiveConversation(
            name: name,
            password: password,
            certificate: certificate,
            numbers: numbers
        )
        self.conversation = conversation
        // A login that waits for nothing ends here, without a change of threads.
        task = Task.immediate { conversation.finish(await login(conversation)) }
    }

    deinit { cancel() }

    /// Waits until the stack has a question for the user or the login has ended.
    ///
    /// The same question is returned until it is answered. If the caller's task is cancelled, the wait continues. The
    /// deadlines of the modules limit the wait.
    package func next() async -> Step { await conversation.next() }

    /// Answers each callback of the open question in order, by an answer of its kind or `none`; false, and nothing is
    /// changed, if the answers do not fit or another question is open, such as after the form was sent twice.
    package func answer(_ answers: [Answer], to number: Int) -> Bool { conversation.receive(answers, to: number) }

    package var messages: [String] { conversation.messages }

    package var hasGivenCertificate: Bool { conversation.hasGivenCertificate }

    /// Cancels the login: all questions of the stack fail, and ``next()`` returns when the stack has ended.
    package func cancel() {
        // If the task is cancelled, the engine reports the login as unavailable, and the throttle does not count the
        // login. After the stack has received a secret, the task is therefore not cancelled: its questions fail, and
        // the throttle counts the failed login.
        if !conversation.close() { task.cancel() }
    }
}

/// The numbers of questions to users, shared by logins, so that an answer is not taken for an answer to a question of
/// another login of the same browser.
package final class QuestionNumbers: Sendable {
    /// The greatest number of nine digits, as in a JSON body.
    ///
    /// After it, the numbers begin again at 1.
    private static let maximum = 999_999_999

    private let last = Atomic(0)

    package init() {}

    func next() -> Int { last.wrappingAdd(1, ordering: .relaxed).oldValue % Self.maximum + 1 }
}
