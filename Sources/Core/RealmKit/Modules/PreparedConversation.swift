// SPDX-License-Identifier: Apache-2.0

/// A conversation whose answers are known beforehand, such as the name and the password of an `Authorization` header.
public final class PreparedConversation: Conversation {
    /// A conversation without answers.
    public static let silent = PreparedConversation()

    private let name: String?
    private let password: Secret?
    private let code: Secret?
    private let certificate: [UInt8]?

    /// Creates a conversation; a callback whose value is nil is answered by ``Answer/none``.
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
