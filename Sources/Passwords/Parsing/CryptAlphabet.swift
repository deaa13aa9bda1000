// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The two alphabets of crypt(3), with checks of texts.
enum CryptAlphabet {
    /// `./0-9A-Za-z`, the alphabet of most methods.
    static let common = Array("./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
    /// `./A-Za-z0-9`, the alphabet of bcrypt.
    static let bcrypt = Array("./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)

    /// Returns whether a text has the given length and contains only characters of the common alphabet.
    static func isCommon(_ text: some StringProtocol, length count: Int) -> Bool {
        text.utf8.count == count && text.utf8.allSatisfy(common.contains)
    }

    /// Returns whether a text can be a salt: visible ASCII without the characters that libxcrypt rejects.
    static func isSalt(_ text: some StringProtocol, lengths counts: ClosedRange<Int>) -> Bool {
        counts.contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x21...0x7e).contains($0) && !Array(#"$!*:;\"#.utf8).contains($0) }
    }

    /// Returns the value of a character of the common alphabet; nil for another character.
    static func value(_ character: UInt8) -> Int? { common.firstIndex(of: character) }
}
