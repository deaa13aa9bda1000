// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmKit

/// A conversation that answers from a script and remembers what it was asked.
///
/// It may be used from any thread.
public final class RecordingConversation: Conversation {
    /// What to say to one question, however many callbacks it is made of.
    public enum Reply: Sendable {
        /// What this conversation would say.
        case like(PreparedConversation)
        /// These answers as they stand, right in number and kind or not.
        case answers([Answer])
        /// A fault: the other end is gone.
        case fault(LoginFault)
        /// Nothing, until the task is cancelled; then a fault of kind `unavailable`.
        case never
        /// Nothing before ``RecordingConversation/release()``, cancelled or not; then what this conversation would say.
        case held(PreparedConversation)
    }

    private let replies: [Reply]
    private let journal = Journal<[Callback]>()
    private let gate = Gate()

    /// A conversation with a script.
    ///
    /// - Parameter replies: What to say to one question after the other; the last repeats. Without any, every callback is
    ///   answered by ``Answer/none``.
    public init(_ replies: [Reply] = []) {
        self.replies = replies
    }

    /// A conversation that always answers the same.
    ///
    /// - Parameters:
    ///   - name: The user name.
    ///   - password: The password.
    ///   - code: The one-time code.
    ///   - certificate: The certificate, in DER.
    public convenience init(
        name: String? = nil,
        password: String? = nil,
        code: String? = nil,
        certificate: [UInt8]? = nil
    ) {
        let prepared = PreparedConversation(
            name: name,
            password: password.map { Secret(utf8: $0) },
            code: code.map { Secret(utf8: $0) },
            certificate: certificate
        )
        self.init([.like(prepared)])
    }

    /// What was asked so far, question by question.
    public var questions: [[Callback]] { journal.entries }

    /// Waits until so many questions have been asked.
    ///
    /// - Parameter count: How many, at least.
    public func untilAsked(_ count: Int = 1) async { await journal.wait(for: count) }

    /// Lets go of every ``Reply/held(_:)``.
    public func release() { gate.open() }

    /// Answers as the script says.
    public func answer(_ callbacks: [Callback]) async throws(LoginFault) -> [Answer] {
        let number = journal.add(callbacks)
        switch number < replies.count ? replies[number] : replies.last ?? .like(.silent) {
        case .like(let prepared): return try await prepared.answer(callbacks)
        case .answers(let answers): return answers
        case .fault(let fault): throw fault
        case .held(let prepared):
            await gate.pass()
            return try await prepared.answer(callbacks)
        case .never:
            do throws(CancellationError) {
                try await ManualClock().sleep(until: .max)
            } catch {
                throw .unavailable("the conversation was cancelled")
            }
            return []
        }
    }
}
