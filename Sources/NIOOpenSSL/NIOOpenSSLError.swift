// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import OpenSSLKit

/// Why a TLS channel was closed, as its pipeline's `errorCaught` and its failed promises tell.
///
/// Two errors are equal if their ``code`` is equal. The channel is closed when one arrives, or is about to be.
public struct NIOOpenSSLError: Error, Sendable {
    /// What kind of fault it was: what a program may act on.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The handshake was not done by its deadline.
        case handshakeTimeout
        /// The handshake failed; the cause says why.
        case handshakeFailed
        /// The peer sent a plain HTTP request.
        case plainHTTP
        /// The peer went away before the handshake was done.
        case closedDuringHandshake
        /// The peer's stream ended without close_notify: its end may have been cut off (RFC 8446 6.1).
        case uncleanShutdown
        /// The protocol failed after the handshake; the cause says why.
        case connectionFailed
        /// The peer sends messages that must be answered and does not take the answers.
        case unreadAnswers
        /// The handler was taken out of the pipeline while something was still to be written.
        case handlerRemoved
    }

    /// The kind of fault.
    public let code: Code

    /// OpenSSL's view of it, where it has one.
    public let cause: OpenSSLError?

    /// Makes an error out of its parts.
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
            case .handshakeTimeout: "the TLS handshake was not done in time"
            case .handshakeFailed: "the TLS handshake failed"
            case .plainHTTP: "plain HTTP was sent to a TLS port"
            case .closedDuringHandshake: "the peer went away during the TLS handshake"
            case .uncleanShutdown: "the peer closed without close_notify"
            case .connectionFailed: "the TLS connection failed"
            case .unreadAnswers: "the peer sends TLS messages and does not read the answers"
            case .handlerRemoved: "the TLS handler was removed"
            }
        guard let cause else { return text }
        return "\(text): \(cause)"
    }
}
