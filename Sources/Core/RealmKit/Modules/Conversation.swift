// SPDX-License-Identifier: Apache-2.0

/// The connection to the user who signs in: an HTTP header, the fields of a form, a terminal.
///
/// A module passes callbacks, and the conversation answers them. The wait for the user does not count towards the
/// module's deadline, so a conversation that the user cannot interrupt needs a time limit of its own. It may be called
/// from any thread.
///
/// Contract, tested by `ConversationConformance` of RealmTesting: there is one answer for each callback, in the same
/// order; a callback without an answer gets ``Answer/none``; a cancellation of the task ends the wait with a fault.
public protocol Conversation: AnyObject, Sendable {
    /// True if the client presented a password or a code.
    ///
    /// A refused login then counts as a guess, even if no module requested the secret. The engine reads it at the end
    /// of a login. The default is false.
    var presentsSecret: Bool { get }

    /// Sets what the conversation does each time before it waits for a person.
    ///
    /// A throttle then counts the login as a failure, until it is known to be none. A conversation that waits for the
    /// user's next request calls the action before it shows the question. The action replaces an earlier one; it does
    /// not block, and is released with the conversation at the latest. The default ignores the action.
    func beforeWaiting(_ action: @escaping @Sendable () -> Void)

    /// Answers all callbacks, which are passed together so that a page can show all fields at once.
    ///
    /// - Returns: One answer for each callback, in the same order.
    /// - Throws: ``LoginFault`` if the client is gone, the time is up, or the task is cancelled.
    func answer(_ callbacks: [Callback]) async throws(LoginFault) -> [Answer]
}

extension Conversation {
    /// False: a login counts as a guess only if a module received a secret.
    public var presentsSecret: Bool { false }

    /// Ignores the action: a conversation with all its answers never waits.
    public func beforeWaiting(_ action: @escaping @Sendable () -> Void) {}
}

/// A request of a module to the user: for a name, a password, a code or a certificate, or to show a message.
///
/// Source: `javax.security.auth.callback`, pam_conv(3).
public enum Callback: Sendable, Hashable {
    /// A user name.
    case name(prompt: String)
    /// A password; a terminal or page hides the input.
    case password(prompt: String)
    /// A one-time code; a terminal or page may show the input.
    case oneTimeCode(prompt: String)
    /// The client certificate; TLS has verified that the client has its private key.
    case certificate
    /// A message to show; its answer is ``Answer/none``.
    case message(String)
}

/// The answer to a ``Callback``.
public enum Answer: Sendable {
    /// A user name, unchecked.
    case name(String)
    /// A password or a one-time code.
    case secret(Secret)
    /// A certificate in DER, verified by TLS.
    case certificate([UInt8])
    /// No answer: the user did not answer, or this kind of conversation has no answer to the callback.
    case none
}

extension Answer {
    var isSecret: Bool { if case .secret = self { true } else { false } }
}

/// A conversation whose answers are known beforehand, such as the name and the password of an `Authorization` header.
public final class PreparedConversation: Conversation {
    /// A conversation without answers.
    public static let silent = PreparedConversation()

    private let name: String?
    private let password: Secret?
    private let code: Secret?
    private let certificate: [UInt8]?

    /// Creates a conversation; a callback whose value is nil is answered by ``Answer/none``.
    public init(name: String? = nil, password: Secret? = nil, code: Secret? = nil, certificate: [UInt8]? = nil) {
        self.name = name
        self.password = password
        self.code = code
        self.certificate = certificate
    }

    /// True if there is a password or a code.
    public var presentsSecret: Bool { password != nil || code != nil }

    /// Returns the prepared answers, without waiting.
    public func answer(_ callbacks: [Callback]) async throws(LoginFault) -> [Answer] {
        callbacks.map { callback in
            switch callback {
            case .name: name.map(Answer.name) ?? .none
            case .password: password.map(Answer.secret) ?? .none
            case .oneTimeCode: code.map(Answer.secret) ?? .none
            case .certificate: certificate.map(Answer.certificate) ?? .none
            case .message: .none
            }
        }
    }
}
