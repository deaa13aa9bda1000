// SPDX-License-Identifier: Apache-2.0

/// The reason why a request got no complete response.
///
/// Two errors are equal if their codes are equal. The text is for logs. It contains no secret, and no bytes of the
/// response.
public struct HTTPSClientError: Error, Sendable {
    /// The kinds of errors.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The request breaks a rule, such as a line break in a field.
        case invalidRequest
        /// The host name has no address.
        case nameNotResolved
        /// No connection could be opened, or the TLS handshake failed.
        case connectFailed
        /// The server's certificate was rejected: unknown authority, another name, expired, or another key than the
        /// pinned key.
        case certificateRejected
        /// No connection was open when the time for connecting was over.
        case connectTimedOut
        /// The response was not complete when the time for the request was over.
        case timedOut
        /// The fields of the response are longer than the limit.
        case responseHeadTooLarge
        /// The body of the response, or the whole response, is longer than the limit.
        case responseTooLarge
        /// The server has sent bytes that are not a valid response.
        case malformedResponse
        /// The connection ended before the response was complete.
        case connectionClosed
        /// All connections are in use, and the maximum number of requests is waiting for a connection; or the system
        /// has no more resources for a connection.
        case tooManyRequests
        /// The caller's task was cancelled.
        case cancelled
        /// The client is closed.
        case clientClosed
    }

    /// The kind of error.
    public let code: Code
    /// The cause, for logs.
    public let cause: String
    /// True if the server may have received bytes of the request.
    ///
    /// If false, the request can be sent again, or to another server, and no server receives it twice.
    public let mayHaveReachedServer: Bool

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of error.
    ///   - cause: The cause, for logs, without secrets.
    ///   - mayHaveReachedServer: True if the server may have received bytes of the request.
    public init(_ code: Code, _ cause: String, mayHaveReachedServer: Bool = false) {
        self.code = code
        self.cause = cause
        self.mayHaveReachedServer = mayHaveReachedServer
    }
}

extension HTTPSClientError: Equatable, CustomStringConvertible {
    /// Compares the codes.
    public static func == (left: HTTPSClientError, right: HTTPSClientError) -> Bool { left.code == right.code }

    /// The cause.
    public var description: String { cause }
}
