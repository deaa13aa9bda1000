// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import OpenSSLKit

/// The id of a session for clients and administrators: 127 random bits, written as 22 characters of base64url.
///
/// The first bit is 0, so no id begins with `-` as an option of a command does.
///
/// It is not a secret and gives no access. The token of the session cannot be derived from it.
public struct SessionID: Hashable, Sendable, CustomStringConvertible {
    private var words: (UInt64, UInt64) = (0, 0)

    /// A new id.
    ///
    /// - Throws: ``OpenSSLError`` when no random bytes can be generated.
    init() throws(OpenSSLError) {
        let random = try RandomBytes.make(16)
        for index in random.indices { set(index, to: index == 0 ? random[index] & 0x7F : random[index]) }
    }

    /// Parses a ``description``; nil if the text is not a session id.
    ///
    /// - Parameter text: 22 characters of base64url without padding.
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

    private mutating func set(_ index: Int, to byte: UInt8) {
        unsafe withUnsafeMutableBytes(of: &words) { unsafe $0[index] = byte }
    }
}
