// SPDX-License-Identifier: Apache-2.0

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

    /// Decodes the 22 characters of an MD5 digest.
    ///
    /// - Parameters:
    ///   - text: Characters of the common alphabet.
    ///   - order: The indexes of the digest's bytes that each group of characters encodes, the most significant byte
    ///     first. A group has four characters and encodes three bytes. The last group has two and encodes one.
    /// - Returns: The digest; nil if the pad bits at the end are not zero.
    static func digest(_ text: Substring, order: [[Int]]) -> [UInt8]? {
        var values = text.utf8.compactMap(value)[...]
        var digest = [UInt8](repeating: 0, count: 16)
        for places in order {
            let count = places.count == 3 ? 4 : 2
            var bits = values.prefix(count).reversed().reduce(0) { $0 << 6 | $1 }
            values = values.dropFirst(count)
            for place in places.reversed() {
                digest[place] = UInt8(truncatingIfNeeded: bits)
                bits >>= 8
            }
            guard bits == 0 else { return nil }
        }
        return digest
    }
}
