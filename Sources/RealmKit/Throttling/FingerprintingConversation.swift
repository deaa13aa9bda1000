// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Synchronization

/// A conversation that keeps a mark of the secrets passing through it.
final class FingerprintingConversation: Conversation {
    private let conversation: any Conversation
    private let marked = Mutex<PasswordFingerprint?>(nil)

    init(_ conversation: any Conversation) { self.conversation = conversation }

    /// The mark of the secrets so far; nil if there were none.
    var guess: PasswordFingerprint? { marked.withLock { $0 } }

    var presentsSecret: Bool { conversation.presentsSecret }

    func answer(_ callbacks: [Callback]) async throws(LoginFault) -> [Answer] {
        let answers = try await conversation.answer(callbacks)
        for case .secret(let secret) in answers {
            marked.withLock { marked in
                var mark = marked ?? PasswordFingerprint([])
                mark.add(secret)
                marked = mark
            }
        }
        return answers
    }
}
