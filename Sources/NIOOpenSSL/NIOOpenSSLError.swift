// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import OpenSSLKit

/// The reason why a TLS channel was closed, as given to its pipeline's `errorCaught` and its failed promises.
///
/// Two errors are equal if their ``code`` is equal. When one arrives, the channel is closed or is being closed.
public struct NIOOpenSSLError: Error, Sendable {
    /// The kind of error, for decisions of a program.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The handshake was not complete by its deadline.
        case handshakeTimeout
        /// The handshake failed; the cause has the reason.
        case handshakeFailed
        /// The peer sent a plain HTTP request.
        case plainHTTP
        /// The peer disconnected before the handshake was complete.
        case closedDuringHandshake
        /// The peer's stream ended without close_notify, so it may be cut off (RFC 8446 section 6.1).
        case uncleanShutdown
        /// The protocol failed after the handshake; the cause has the reason.
        case connectionFailed
        /// The peer sends messages that must be answered and does not read the answers.
        case unreadAnswers
        /// The handler was removed from the pipeline before everything was written.
        case handlerRemoved
    }

    /// The kind of error.
    public let code: Code

    /// The error of OpenSSL, if there is one.
    public let cause: OpenSSLError?

    /// Makes an error from its parts.
    public init(_ code: Code, cause: OpenSSLError? = nil) {
        self.code = code
        self.cause = cause
    }
}

extension NIOOpenSSLError: Equatable {
    /// Compares by ``code`` alone.
    public static func == (left: NIOOpenSSLError, right: NIOOpenSSLError) -> Bool { left.code == right.code }
}

extension NIOOpenSSLError: CustomStringConvertible {
    /// One line for the log.
    public var description: String {
        let text =
            switch code {
            case .handshakeTimeout: "the TLS handshake timed out"
            case .handshakeFailed: "the TLS handshake failed"
            case .plainHTTP: "plain HTTP was sent to a TLS port"
            case .closedDuringHandshake: "the peer disconnected during the TLS handshake"
            case .uncleanShutdown: "the peer closed without close_notify"
            case .connectionFailed: "the TLS connection failed"
            case .unreadAnswers: "the peer sends TLS messages and does not read the answers"
            case .handlerRemoved: "the TLS handler was removed"
            }
        guard let cause else { return text }
        return "\(text): \(cause)"
    }
}
