// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import OpenSSLKit
internal import Sessions

/// The place that a browser goes to after a sign-in.
struct Destination: Sendable, Hashable {
    /// The target to return to, as received; nil for the default.
    ///
    /// It is checked each time it is used; see ``ReturnTarget``.
    var target: String?
    /// The challenge of the host of the target, if that host expects a hand-over; see ``challenge(of:)``.
    var challenge: Digest?
    /// True if an earlier hand-over to this target has failed.
    var isRetry = false

    /// Creates a destination.
    ///
    /// - Parameters:
    ///   - target: The target to return to; nil for the default.
    ///   - challenge: The challenge of the host of the target; nil without a hand-over.
    ///   - isRetry: True if an earlier hand-over to this target has failed.
    init(target: String? = nil, challenge: Digest? = nil, isRetry: Bool = false) {
        self.target = target
        self.challenge = challenge
        self.isRetry = isRetry
    }

    /// Reads the fields `return`, `challenge` and `retry` of a query.
    init(_ query: FormFields?) {
        target = query?.read("return")?.string
        challenge = query?.read("challenge").flatMap { Self.challenge($0.string) }
        isRetry = query?.read("retry") == "1"
    }

    /// The fields of a query that ``init(_:)`` reads.
    var query: String {
        var fields: [String] = []
        if let target { fields.append("return=\(PercentEncoding.encode(target))") }
        if let challenge { fields.append("challenge=\(challenge.withBytes { Base64.url.encode($0) })") }
        if isRetry { fields.append("retry=1") }
        return fields.joined(separator: "&")
    }

    /// Returns the challenge of a verifier.
    ///
    /// A code is issued for a challenge, and can be redeemed only with the verifier, from which the challenge is computed
    /// again. Source: RFC 7636 section 4.2.
    ///
    /// - Parameter verifier: The value of the cookie that a hand-over is bound to.
    /// - Returns: The challenge.
    /// - Throws: ``OpenSSLError`` when the challenge cannot be computed.
    static func challenge(of verifier: OpaqueToken) throws(OpenSSLError) -> Digest {
        try verifier.proof(for: "gatehouse hand-over")
    }

    private static func challenge(_ text: String) -> Digest? {
        Base64.url.decode(text.utf8Span.span).flatMap { Digest(bytes: $0) }
    }
}
