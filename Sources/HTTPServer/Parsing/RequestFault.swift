// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// Why a request cannot be taken: the status it is answered with, and what is wrong with it.
///
/// The connection ends with the answer, because where the next request would begin is not known for sure.
public struct RequestFault: Error, Sendable, Hashable {
    /// A status code of RFC 9110: 400, 408, 413, 414, 417, 431 or 505.
    public let status: Int
    /// What is wrong, in a few words without anything from the request, for its sender and the log.
    public let reason: String

    /// A fault.
    ///
    /// - Parameters:
    ///   - status: A status code of RFC 9110.
    ///   - reason: What is wrong, in a few words.
    public init(_ status: Int, _ reason: String) {
        self.status = status
        self.reason = reason
    }

    static let late = RequestFault(408, "the request did not come in time")
    static let bodyTooLong = RequestFault(413, "the body is too long")

    static func malformed(_ reason: String) -> RequestFault { RequestFault(400, reason) }
}
