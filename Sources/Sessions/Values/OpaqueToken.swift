// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import OpenSSLKit

/// 256 random bits that stand for something the server knows, as in a cookie.
///
/// The server keeps only the ``digest``: whoever reads what it has stored can present nothing. Source: ASVS 7.2.3, 11.5.1.
public struct OpaqueToken: Sendable {
    /// The length of ``text``: 43 characters.
    public static let textLength = 43

    // Four words rather than an array: one is read for every request and must not allocate.
    private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    /// A new one.
    ///
    /// - Throws: ``OpenSSLError`` when there is no randomness.
    public init() throws(OpenSSLError) {
        var random = try RandomBytes.make(32)
        defer { for index in random.indices { random[index] = 0 } }
        for index in 0..<32 { set(index, random[index]) }
    }

    /// Reads what ``text`` has written; nil for everything else.
    ///
    /// - Parameter text: 43 characters of base64url without padding (RFC 4648 section 5), the two bits that stand for
    ///   nothing unset.
    public init?(_ text: Span<UInt8>) {
        guard Base64URL.read(text, length: 32, { set($0, $1) }) else { return nil }
    }

    /// The token as it stands in a cookie: 43 characters of base64url.
    ///
    /// It is a secret; it is written into a response and nowhere else.
    public var text: String { withBytes { Base64URL.text($0) } }

    /// What is kept of the token.
    ///
    /// - Returns: Its SHA-256.
    /// - Throws: ``OpenSSLError`` if no provider offers SHA-256.
    public func digest() throws(OpenSSLError) -> Digest {
        try unsafe withUnsafeBytes(of: words) { raw throws(OpenSSLError) in
            try Digest.sha256(unsafe Span(_unsafeBytes: raw))
        }
    }

    /// A value that only who has the token can know, and from which the token cannot be found: against forged requests.
    ///
    /// - Parameter purpose: What it is for; another purpose has another value.
    /// - Returns: HMAC-SHA-256 of the purpose, the token being the key.
    /// - Throws: ``OpenSSLError`` when it cannot be computed.
    public func proof(for purpose: StaticString) throws(OpenSSLError) -> Digest {
        try unsafe withUnsafeBytes(of: words) { raw throws(OpenSSLError) in
            try HMACKey(unsafe Span(_unsafeBytes: raw)).tag(purpose.description.utf8Span.span)
        }
    }

    private func withBytes<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        unsafe withUnsafeBytes(of: words) { body(unsafe Span(_unsafeBytes: $0)) }
    }

    private mutating func set(_ index: Int, _ byte: UInt8) {
        unsafe withUnsafeMutableBytes(of: &words) { unsafe $0[index] = byte }
    }
}
