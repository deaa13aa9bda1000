// SPDX-License-Identifier: Apache-2.0

/// The reason why a request is rejected, and the status of the response.
///
/// Over HTTP/1 the connection ends with the response, because the start of the next request is uncertain.
public struct RequestFault: Error, Sendable, Hashable {
    /// A status code of RFC 9110: 400, 408, 413, 414, 417, 431 or 505.
    public let status: Int
    /// The reason in a few words, for the client and the log.
    ///
    /// It contains no part of the request.
    public let reason: String

    /// Makes a fault.
    ///
    /// - Parameters:
    ///   - status: A status code of RFC 9110.
    ///   - reason: The reason in a few words.
    public init(_ status: Int, _ reason: String) {
        self.status = status
        self.reason = reason
    }

    static let timedOut = RequestFault(408, "the request did not arrive in time")
    static let bodyTooLong = RequestFault(413, "the body is too long")
    static let longRequestLine = RequestFault(414, "the request line is too long")
    static let longField = RequestFault(431, "a header field is too long")
    static let longHeader = RequestFault(431, "the header is too long")
    static let tooManyFields = RequestFault(431, "too many header fields")

    static func malformed(_ reason: String) -> RequestFault { RequestFault(400, reason) }
}
