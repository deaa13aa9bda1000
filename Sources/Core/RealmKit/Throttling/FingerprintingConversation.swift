// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A conversation that computes the fingerprint of the secrets it passes to modules.
final class FingerprintingConversation: Conversation {
    private let conversation: any Conversation
    private let state = Mutex<PasswordFingerprint?>(nil)

    init(_ conversation: any Conversation) { self.conversation = conversation }

    /// The fingerprint of the secrets so far; nil if there were no secrets.
    var fingerprint: PasswordFingerprint? { state.withLock { $0 } }

    var presentsSecret: Bool { conversation.presentsSecret }

    func answer(_ callbacks: [Callback]) async throws(LoginFault) -> [Answer] {
        let answers = try await conversation.answer(callbacks)
        for case .secret(let secret) in answers {
            state.withLock { state in
                var fingerprint = state ?? PasswordFingerprint([])
                fingerprint.add(secret)
                state = fingerprint
            }
        }
        return answers
    }
}
