// SPDX-License-Identifier: Apache-2.0

public import OpenSSLKit

/// The reason why a TLS channel was closed.
///
/// The pipeline gets it through `errorCaught`, and open promises fail with it. The channel is then closed or is being
/// closed. Two errors are equal if their ``code`` is equal.
public struct NIOOpenSSLError: Error, Sendable {
    /// The kind of error, and its text for the log.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The handshake was not complete by its deadline.
        case handshakeTimeout = "the TLS handshake timed out"
        /// The handshake failed; ``NIOOpenSSLError/cause`` has the reason.
        case handshakeFailed = "the TLS handshake failed"
        /// The peer sent a plain HTTP request.
        case plainHTTP = "plain HTTP was sent to a TLS port"
        /// The peer disconnected before the handshake was complete.
        case closedDuringHandshake = "the peer disconnected during the TLS handshake"
        /// The peer's stream ended without close_notify, so data may be missing (RFC 8446 section 6.1).
        case uncleanShutdown = "the peer closed without close_notify"
        /// The connection failed after the handshake; ``NIOOpenSSLError/cause`` has the reason.
        case connectionFailed = "the TLS connection failed"
        /// The peer sends messages that need an answer, and does not read the answers.
        case unreadAnswers = "the peer does not read the answers to its TLS messages"
        /// The handler was removed from the pipeline before everything was written.
        case handlerRemoved = "the TLS handler was removed"
    }

    /// The kind of error.
    public let code: Code
    /// The error of OpenSSL, if there is one.
    public let cause: OpenSSLError?

    /// Makes an error.
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
        cause.map { "\(code.rawValue): \($0)" } ?? code.rawValue
    }
}
