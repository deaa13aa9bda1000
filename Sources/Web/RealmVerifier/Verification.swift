// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLKit
public import RealmKit
internal import Sessions

/// The result of a check of credentials.
public enum Verification: Sendable {
    /// A realm has accepted the user.
    case accepted(SignedInUser)
    /// The user is refused; the reason is in the log only.
    case refused
    /// The login could not be decided now: a server answers with 503, or with `UNAVAILABLE`.
    case unavailable
    /// The realm asks further questions, such as for a one-time code.
    ///
    /// A program that cannot ask its user drops them; the login then fails.
    case questions(FurtherQuestions)

    /// The accepted user; nil for every other result.
    public var user: SignedInUser? { if case .accepted(let user) = self { user } else { nil } }
}

/// Questions of a realm that only the user can answer, and the login that waits for the answers.
///
/// The login fails after the `time` of the `sign-in` settings (10 minutes by default), if too many logins of the client's
/// network wait, after ``cancel()``, and when the value is released without an answer. Meanwhile it counts as a failed
/// login of the account.
public struct FurtherQuestions: Sendable {
    /// The questions in order, with the messages among them, which need no answer.
    public let callbacks: [Callback]
    /// The messages of the realm before these questions.
    public let messages: [String]
    let number: Int
    let login: OpenLogin

    /// Answers the questions.
    ///
    /// - Parameter answers: An answer for each of the ``callbacks``, of its kind; `none` for a message, and for a question that
    ///   the program cannot ask.
    /// - Returns: The result, which may be further questions; the same questions again if the answers do not fit them; and
    ///   `refused` if they have been answered already.
    public func answer(_ answers: [Answer]) async -> Verification {
        guard login.interactive.answer(answers, to: number) else {
            if case .questions(_, let open) = await login.interactive.next(), open == number {
                return .questions(self)
            }
            return .refused
        }
        guard let tracer = login.tracer else { return await login.next(nil) }
        return await tracer.record { await login.next($0) }
    }

    /// Ends the login now, as a failed one, for a user who has left; answers are then refused.
    ///
    /// A login that has been answered in full is not undone.
    public func cancel() { login.cancel() }
}

/// A login that waits for its user, in the table of such logins.
final class OpenLogin: Sendable {
    typealias Table = ExpiringTable<ClientNetwork, InteractiveLogin>

    let interactive: InteractiveLogin
    let tracer: LoginTracer?
    private let key: Digest
    private let table: Table
    private let finish: @Sendable (MultiRealmLoginReport.Outcome) async -> Verification

    init(
        _ interactive: InteractiveLogin,
        _ key: Digest,
        in table: Table,
        tracer: LoginTracer?,
        finish: @escaping @Sendable (MultiRealmLoginReport.Outcome) async -> Verification
    ) {
        (self.interactive, self.key, self.table) = (interactive, key, table)
        (self.tracer, self.finish) = (tracer, finish)
    }

    deinit { cancel() }

    func cancel() {
        _ = table.take(key)
        interactive.cancel()
    }

    /// Waits for the next questions, or for the end of the login.
    func next(_ span: LoginSpan?) async -> Verification {
        switch await interactive.next() {
        case .questions(let callbacks, let number):
            let messages = interactive.messages
            return .questions(
                FurtherQuestions(callbacks: callbacks, messages: messages, number: number, login: self)
            )
        case .finished(let outcome):
            _ = table.take(key)
            span?.add(outcome)
            return await finish(outcome)
        }
    }
}
