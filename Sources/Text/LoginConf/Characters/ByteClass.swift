// SPDX-License-Identifier: Apache-2.0

/// The classes of bytes in login.conf.
///
/// A byte may have several classes. Source: the observed behaviour of `java.io.StreamTokenizer`, with the settings of
/// the JDK's parser, for all characters up to U+00FF.
enum ByteClass {
    /// White space: the space and all control characters up to U+001F.
    static let space: UInt8 = 1
    /// The bytes that may begin a word: letters, `_ $ *`, and the first byte of most characters from U+00A0 up.
    static let wordStart: UInt8 = 2
    /// The bytes that a word may contain after its first byte: all bytes of `wordStart`, digits, `.`, `-`, and
    /// continuation bytes.
    static let wordPart: UInt8 = 4
    /// The bytes at which the scan of a string stops: `"`, backslash, `$`, line ends.
    static let stringStop: UInt8 = 8

    @inline(__always)
    static func of(_ byte: UInt8) -> UInt8 { table[Int(byte)] }

    // C2 and EF are first bytes of characters, but have no class. After C2 the next byte decides whether the character
    // is allowed in a word (from U+00A0). EF may begin a byte order mark.
    // swift-format-ignore
    private static let table: [256 of UInt8] = [
         1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 9, 1, 1, 9, 1, 1,
         1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
         1, 0, 8, 0, 14, 0, 0, 0, 0, 0, 6, 0, 0, 4, 4, 0,
         4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 0, 0, 0, 0, 0, 0,
         0, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6,
         6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 0, 8, 0, 0, 6,
         0, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6,
         6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 0, 0, 0, 0, 0,
         4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4,
         4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4,
         4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4,
         4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4,
         0, 0, 0, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6,
         6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6,
         6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 0,
         6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6,
    ]
}
