// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The classes of bytes in login.conf.
///
/// Source: `java.io.StreamTokenizer` with the settings of the JDK's parser; observed for all characters up to U+00FF.
enum ByteClass {
    /// Every control character counts as white space.
    static let space: UInt8 = 1
    /// Letters, `_ $ *`, and the first byte of most characters from U+00A0 up.
    static let wordStart: UInt8 = 2
    /// All of these, digits, `.`, `-`, and the further bytes of a multi-byte character.
    static let wordPart: UInt8 = 4
    /// The bytes at which the scan of a string stops: `"`, backslash, `$`, line ends.
    static let stringStop: UInt8 = 8

    @inline(__always)
    static func of(_ byte: UInt8) -> UInt8 { table[Int(byte)] }

    // C2 and EF as first bytes are in no class: after C2 the second byte decides, and EF may begin a byte order mark.
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
