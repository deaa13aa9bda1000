// SPDX-License-Identifier: Apache-2.0

internal import RealmKit
internal import Synchronization

/// The conversation of a login whose answers are all in one request.
///
/// - A name callback is answered with the user name.
/// - The first password callback is answered with the password, and so are later password callbacks with the same
///   prompt, as with HTTP Basic.
/// - Any other password callback, and a one-time code callback, takes the next code. If no code is left, it is answered
///   with `none`, and the login counts as a failed guess because of the password.
/// - Messages are dropped.
final class CheckConversation: Conversation {
    private struct State {
        var prompt: String?
        var codes: ArraySlice<Secret>
    }

    private let name: String
    private let password: Secret
    private let state: Mutex<State>

    /// A conversation.
    ///
    /// - Parameters:
    ///   - name: The user name.
    ///   - password: The password.
    ///   - codes: The answers to further questions, in order.
    init(name: String, password: Secret, codes: [Secret]) {
        self.name = name
        self.password = password
        state = Mutex(State(codes: codes[...]))
    }

    /// True: the request contains a password.
    var presentsSecret: Bool { true }

    func answer(_ callbacks: [Callback]) async throws(LoginFault) -> [Answer] {
        state.withLock { state in
            callbacks.map { callback in
                switch callback {
                case .name: return .name(name)
                case .certificate, .message: return .none
                case .oneTimeCode: return state.codes.popFirst().map(Answer.secret) ?? .none
                case .password(let prompt):
                    guard prompt == state.prompt ?? prompt else {
                        return state.codes.popFirst().map(Answer.secret) ?? .none
                    }
                    state.prompt = prompt
                    return .secret(password)
                }
            }
        }
    }
}
