// SPDX-License-Identifier: Apache-2.0

public import RealmKit

/// A conversation with prepared replies that records the callbacks.
///
/// It may be used from any thread.
public final class RecordingConversation: Conversation {
    /// The reply to one call, for all its callbacks.
    public enum Reply: Sendable {
        /// The answers of this conversation.
        case prepared(PreparedConversation)
        /// These answers; their number and kinds may be wrong.
        case answers([Answer])
        /// A fault, such as the fault for a client that is gone.
        case fault(LoginFault)
        /// Waits until the task is cancelled, then throws a fault of kind `unavailable`.
        case never
        /// Waits for ``RecordingConversation/release()``, even after a cancellation, then gives the answers of this
        /// conversation.
        case held(PreparedConversation)
    }

    private let replies: [Reply]
    private let journal = Journal<[Callback]>()
    private let latch = Latch()

    /// Creates a conversation with a reply for each call.
    ///
    /// - Parameter replies: The replies in order. The last reply is repeated. If the list is empty, every callback gets
    ///   `Answer.none`.
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
        self.init([.prepared(prepared)])
    }

    /// The callbacks of each call so far, in order.
    public var questions: [[Callback]] { journal.entries }

    /// Waits until the conversation has been called a number of times.
    ///
    /// - Parameter count: The minimum number of calls.
    public func untilCalled(_ count: Int = 1) async { await journal.wait(for: count) }

    /// Ends the wait of all current and later ``Reply/held(_:)`` replies.
    public func release() { latch.open() }

    /// Returns or throws the prepared reply.
    public func answer(_ callbacks: [Callback]) async throws(LoginFault) -> [Answer] {
        let number = journal.add(callbacks)
        switch number < replies.count ? replies[number] : replies.last ?? .prepared(.silent) {
        case .prepared(let conversation): return try await conversation.answer(callbacks)
        case .answers(let answers): return answers
        case .fault(let fault): throw fault
        case .held(let conversation):
            await latch.pass()
            return try await conversation.answer(callbacks)
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
