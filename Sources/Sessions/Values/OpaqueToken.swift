// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Bytes
public import OpenSSLKit

/// A token of 256 random bits, as in a session cookie.
///
/// The server keeps only the ``digest()``, from which the token cannot be computed. Source: ASVS 7.2.3, 11.5.1.
public struct OpaqueToken: Sendable {
    /// The length of ``text``: 43 characters.
    public static let textLength = 43

    // Four words rather than an array: one is read for every request and must not allocate.
    private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    /// A new token.
    ///
    /// - Throws: ``OpenSSLError`` when no random bytes can be generated.
    public init() throws(OpenSSLError) {
        var random = try RandomBytes.make(32)
        defer { for index in random.indices { random[index] = 0 } }
        for index in 0..<32 { set(index, to: random[index]) }
    }

    /// Reads a ``text``; nil for anything else.
    ///
    /// - Parameter text: 43 characters of base64url without padding (RFC 4648 section 5), the two unused bits zero.
    public init?(_ text: Span<UInt8>) {
        let isToken = unsafe withUnsafeMutableBytes(of: &words) { words in
            var bytes = unsafe MutableSpan<UInt8>(_unsafeBytes: words)
            return Base64.url.decode(text, filling: &bytes)
        }
        guard isToken else { return nil }
    }

    /// The token as it is in a cookie: 43 characters of base64url.
    ///
    /// It is a secret: write it into a response and nowhere else.
    public var text: String { withBytes { Base64.url.encode($0) } }

    /// Returns the digest by which the token is found.
    ///
    /// - Returns: Its SHA-256.
    /// - Throws: ``OpenSSLError`` if no provider offers SHA-256.
    public func digest() throws(OpenSSLError) -> Digest {
        try unsafe withUnsafeBytes(of: words) { raw throws(OpenSSLError) in
            try Digest.sha256(unsafe Span(_unsafeBytes: raw))
        }
    }

    /// Returns a value that proves knowledge of the token without revealing it, for protection against forged requests.
    ///
    /// - Parameter purpose: The purpose; different purposes give different values.
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

    private mutating func set(_ index: Int, to byte: UInt8) {
        unsafe withUnsafeMutableBytes(of: &words) { unsafe $0[index] = byte }
    }
}
