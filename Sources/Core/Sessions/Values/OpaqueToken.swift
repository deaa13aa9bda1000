// SPDX-License-Identifier: Apache-2.0

internal import Bytes
package import OpenSSLKit

/// A token of 256 random bits, such as the value of a session cookie.
///
/// The server keeps only the ``digest()``, from which the token cannot be computed. Source: ASVS 7.2.3, 11.5.1.
package struct OpaqueToken: Sendable {
    // Four words instead of an array: a token is read for every request, and reading must not allocate memory.
    private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    /// Creates a token; throws when no random bytes can be generated.
    package init() throws(OpenSSLError) {
        var random = try RandomBytes.make(32)
        defer { for index in random.indices { random[index] = 0 } }
        unsafe withUnsafeMutableBytes(of: &words) { unsafe $0.copyBytes(from: random) }
    }

    /// Parses a ``text`` of 43 characters of base64url without padding (RFC 4648 section 5), whose two unused bits are 0;
    /// nil for any other text.
    package init?(_ text: Span<UInt8>) {
        let isToken = unsafe withUnsafeMutableBytes(of: &words) { words in
            var bytes = unsafe MutableSpan<UInt8>(_unsafeBytes: words)
            return Base64.url.decode(text, filling: &bytes)
        }
        guard isToken else { return nil }
    }

    /// The token as the value of a cookie: a secret of 43 characters of base64url.
    ///
    /// It may be written into a response, but not into a log or a store.
    package var text: String { unsafe withUnsafeBytes(of: words) { Base64.url.encode(unsafe Span(_unsafeBytes: $0)) } }

    /// Returns the SHA-256 that identifies the token; throws if no provider offers SHA-256.
    package func digest() throws(OpenSSLError) -> Digest {
        try unsafe withUnsafeBytes(of: words) { raw throws(OpenSSLError) in
            try Digest.sha256(unsafe Span(_unsafeBytes: raw))
        }
    }

    /// Returns a value that proves knowledge of the token but does not reveal the token, such as a CSRF token: the
    /// HMAC-SHA-256 of a purpose, with the token as the key.
    package func proof(for purpose: StaticString) throws(OpenSSLError) -> Digest {
        try unsafe withUnsafeBytes(of: words) { raw throws(OpenSSLError) in
            try HMACKey(unsafe Span(_unsafeBytes: raw)).tag(purpose.description.utf8Span.span)
        }
    }
}

/// The id of a session for clients and administrators: 127 random bits, written as 22 characters of base64url.
///
/// The first bit is 0, so no id begins with `-` as an option of a command does. It is not a secret and gives no access:
/// the token of the session cannot be derived from it.
public struct SessionID: Hashable, Sendable, CustomStringConvertible {
    private var words: (UInt64, UInt64) = (0, 0)

    init() throws(OpenSSLError) {
        var random = try RandomBytes.make(16)
        random[0] &= 0x7F
        unsafe withUnsafeMutableBytes(of: &words) { unsafe $0.copyBytes(from: random) }
    }

    /// Parses a ``description`` of 22 characters of base64url without padding; nil if the text is not a session id.
    public init?(_ text: String) {
        let isID = unsafe withUnsafeMutableBytes(of: &words) { words in
            var bytes = unsafe MutableSpan<UInt8>(_unsafeBytes: words)
            return Base64.url.decode(text.utf8Span.span, filling: &bytes)
        }
        guard isID else { return nil }
    }

    /// 22 characters of base64url.
    public var description: String {
        unsafe withUnsafeBytes(of: words) { Base64.url.encode(unsafe Span(_unsafeBytes: $0)) }
    }

    /// Returns whether the bits are the same.
    public static func == (left: SessionID, right: SessionID) -> Bool { left.words == right.words }

    /// Hashes the bits.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.1)
    }
}
