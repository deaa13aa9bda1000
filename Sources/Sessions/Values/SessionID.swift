// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import OpenSSLKit

/// What clients and administrators call a session by: 128 random bits, written as 22 characters of base64url.
///
/// It is no secret, and nothing can be asked for with it alone: it does not follow from the session's token, nor the token
/// from it.
public struct SessionID: Hashable, Sendable, CustomStringConvertible {
    private var words: (UInt64, UInt64) = (0, 0)

    /// A new one.
    ///
    /// - Throws: ``OpenSSLError`` when there is no randomness.
    init() throws(OpenSSLError) {
        let random = try RandomBytes.make(16)
        for index in random.indices { set(index, random[index]) }
    }

    /// Reads what ``description`` has written; nil for everything else.
    ///
    /// - Parameter text: 22 characters of base64url without padding.
    public init?(_ text: String) {
        guard Base64URL.read(text.utf8Span.span, length: 16, { set($0, $1) }) else { return nil }
    }

    /// 22 characters of base64url.
    public var description: String {
        unsafe withUnsafeBytes(of: words) { Base64URL.text(unsafe Span(_unsafeBytes: $0)) }
    }

    /// Whether the bits are the same.
    public static func == (left: SessionID, right: SessionID) -> Bool { left.words == right.words }

    /// Hashes the bits.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.1)
    }

    private mutating func set(_ index: Int, _ byte: UInt8) {
        unsafe withUnsafeMutableBytes(of: &words) { unsafe $0[index] = byte }
    }
}
