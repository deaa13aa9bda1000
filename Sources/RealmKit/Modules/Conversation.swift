// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// What a module may ask of the one who signs in.
///
/// Source: `javax.security.auth.callback`, pam_conv(3).
public enum Callback: Sendable, Hashable {
    /// A user name.
    case name(prompt: String)
    /// A password; what is typed is not shown.
    case password(prompt: String)
    /// A code that is good once; what is typed may be shown.
    case oneTimeCode(prompt: String)
    /// The certificate the peer has proved to hold the key of.
    case certificate
    /// A message to show; there is no answer.
    case message(String)
}

/// What the one who signs in has to say to a ``Callback``.
public enum Answer: Sendable {
    /// A user name, unchecked.
    case name(String)
    /// A password or a one-time code.
    case secret(Secret)
    /// A certificate in DER, verified by TLS.
    case certificate([UInt8])
    /// Nothing: it was not given, or the kind of conversation has no such thing.
    case none
}

/// The other end of a login: an HTTP header, the fields of a form, a terminal.
///
/// A module asks only for what it needs, so a person is asked only for what a module needs. An implementation may take as
/// long as a person takes: the time does not count against the module's deadline, and the conversation keeps a deadline
/// of its own where nobody can interrupt it.
///
/// Contract, enforced by `ConversationConformance` of RealmTesting: one answer for every callback, in order; ``Answer/none``
/// for what is not there; cancellation ends the wait with a fault.
public protocol Conversation: AnyObject, Sendable {
    /// Answers all callbacks, or fails.
    ///
    /// - Parameter callbacks: What is asked, at once, so that a page can show all fields together.
    /// - Returns: As many answers as there are callbacks, in their order.
    /// - Throws: ``LoginFault`` when the other end is gone or has run out of time.
    func answer(_ callbacks: [Callback]) async throws(LoginFault) -> [Answer]
}

/// A conversation in which everything has been said already, as with an `Authorization` header.
public final class PreparedConversation: Conversation {
    /// A conversation that answers nothing.
    public static let silent = PreparedConversation()

    private let name: String?
    private let password: Secret?
    private let code: Secret?
    private let certificate: [UInt8]?

    /// What there is to answer with; what is nil is answered by ``Answer/none``.
    ///
    /// - Parameters:
    ///   - name: The user name.
    ///   - password: The password.
    ///   - code: The one-time code.
    ///   - certificate: The verified certificate, in DER.
    public init(
        name: String? = nil,
        password: Secret? = nil,
        code: Secret? = nil,
        certificate: [UInt8]? = nil
    ) {
        self.name = name
        self.password = password
        self.code = code
        self.certificate = certificate
    }

    /// Answers at once.
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
