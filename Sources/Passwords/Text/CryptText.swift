// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The two alphabets of crypt(3).
enum CryptText {
    /// `./0-9A-Za-z`.
    static let common = Array("./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
    /// `./A-Za-z0-9`, bcrypt's.
    static let bcrypt = Array("./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)

    /// Whether a text is of so many characters of the common alphabet.
    static func isCommon(_ text: some StringProtocol, _ count: Int) -> Bool {
        text.utf8.count == count && text.utf8.allSatisfy(common.contains)
    }

    /// Whether a text can be a salt that is used as it stands: visible ASCII without what libxcrypt refuses.
    static func isSalt(_ text: some StringProtocol, _ counts: ClosedRange<Int>) -> Bool {
        counts.contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x21...0x7e).contains($0) && !Array(#"$!*:;\"#.utf8).contains($0) }
    }

    /// What a character stands for in the common alphabet.
    static func value(_ character: UInt8) -> Int? { common.firstIndex(of: character) }
}
