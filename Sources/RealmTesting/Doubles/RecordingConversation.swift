// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmKit

/// A conversation with prepared replies that records the callbacks.
///
/// It may be used from any thread.
public final class RecordingConversation: Conversation {
    /// The reply to one call, however many callbacks it has.
    public enum Reply: Sendable {
        /// The answers of this conversation.
        case like(PreparedConversation)
        /// These answers, whether their number and kinds are right or not.
        case answers([Answer])
        /// A fault, as from a client that is gone.
        case fault(LoginFault)
        /// No reply until the task is cancelled; then a fault of kind `unavailable`.
        case never
        /// No reply before ``RecordingConversation/release()``, even if cancelled; then the answers of this
        /// conversation.
        case held(PreparedConversation)
    }

    private let replies: [Reply]
    private let journal = Journal<[Callback]>()
    private let latch = Latch()

    /// Creates a conversation with a reply for each call.
    ///
    /// - Parameter replies: The replies in order; the last is repeated. Without replies every callback is answered by
    ///   ``Answer/none``.
    public init(_ replies: [Reply] = []) {
        self.replies = replies
    }

    /// Creates a conversation that always gives the same answers.
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

    /// The callbacks of each call so far, in order.
    public var questions: [[Callback]] { journal.entries }

    /// Waits until a number of calls have been made.
    ///
    /// - Parameter count: The least number of calls.
    public func untilCalled(_ count: Int = 1) async { await journal.wait(for: count) }

    /// Ends the wait of every ``Reply/held(_:)``, now or later.
    public func release() { latch.open() }

    /// Replies as prepared.
    public func answer(_ callbacks: [Callback]) async throws(LoginFault) -> [Answer] {
        let number = journal.add(callbacks)
        switch number < replies.count ? replies[number] : replies.last ?? .like(.silent) {
        case .like(let prepared): return try await prepared.answer(callbacks)
        case .answers(let answers): return answers
        case .fault(let fault): throw fault
        case .held(let prepared):
            await latch.pass()
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
