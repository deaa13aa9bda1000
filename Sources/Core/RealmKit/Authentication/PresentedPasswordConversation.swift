// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A conversation that gives modules the password that was already read for the cache.
///
/// The first password callback and later ones with the same prompt get it. All others go to the client's conversation.
final class PresentedPasswordConversation: Conversation {
    private struct State {
        var prompt: String?
        var usedOtherCredentials = false
    }

    private let conversation: any Conversation
    private let password: Secret
    private let state = Mutex(State())

    init(_ conversation: any Conversation, password: Secret) {
        self.conversation = conversation
        self.password = password
    }

    var presentsSecret: Bool { conversation.presentsSecret }

    /// True if the password was the only secret or certificate that the modules received, and they received it.
    var usedPasswordOnly: Bool { state.withLock { $0.prompt != nil && !$0.usedOtherCredentials } }

    func answer(_ callbacks: [Callback]) async throws(LoginFault) -> [Answer] {
        let known: [Answer?] = state.withLock { state in
            callbacks.map { callback in
                guard case .password(let prompt) = callback, prompt == state.prompt ?? prompt else { return nil }
                state.prompt = prompt
                return .secret(password)
            }
        }
        let open = zip(callbacks, known).filter { $0.1 == nil }.map(\.0)
        guard !open.isEmpty else { return known.compactMap(\.self) }
        let given = try await conversation.answer(open)
        guard given.count == open.count else {
            throw .internalError("the conversation gave \(given.count) answers to \(open.count) callbacks")
        }
        if given.contains(where: \.isCredential) { state.withLock { $0.usedOtherCredentials = true } }
        var next = given.makeIterator()
        return known.map { $0 ?? next.next() ?? .none }
    }
}

extension Answer {
    fileprivate var isCredential: Bool {
        switch self {
        case .secret, .certificate: true
        case .name, .none: false
        }
    }
}
