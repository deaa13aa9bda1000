// SPDX-License-Identifier: Apache-2.0

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
    var isSecret: Bool {
        if case .secret = self { true } else { false }
    }
}
