// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// The obsolete methods of crypt(3).
extension CryptFormat {
    /// sha1-crypt: `$sha1$iterations$salt$hash`.
    static func sha1(_ stored: String, rest: Substring) throws(BadHash) -> Crypt {
        let fields = try HashFields(rest, of: "sha1crypt", counts: 3...3)
        let rounds = try fields.number(
            fields[0],
            named: "the number of iterations",
            in: 1...CostBounds.maximumSHA1Rounds
        )
        guard CryptAlphabet.isSalt(fields[1], lengths: 1...64), fields[1].utf8.allSatisfy(CryptAlphabet.common.contains)
        else {
            throw fields.fault("the salt does not have 1 to 64 allowed characters")
        }
        guard CryptAlphabet.isCommon(fields[2], length: 28) else {
            throw fields.fault("the hash does not have 28 characters of the alphabet")
        }
        return Crypt(
            method: .sha1crypt,
            stored: stored,
            parameters: "rounds=\(rounds)",
            time: .microseconds(rounds)
        )
    }

    /// SunMD5: `$md5$salt$hash` or `$md5,rounds=N$salt$hash`.
    ///
    /// A second `$` may stand before the hash.
    static func sunMD5(_ stored: String, rest: Substring) throws(BadHash) -> Crypt {
        let fields = try HashFields(rest, of: "sunmd5", counts: 3...4)
        var rounds = 0
        if !fields[0].isEmpty {
            guard fields[0].hasPrefix(",rounds=") else {
                throw fields.fault("the text begins with neither $md5$ nor $md5,rounds=")
            }
            rounds = try fields.number(fields[0].dropFirst(8), named: "rounds", in: 1...CostBounds.maximumSunRounds)
        }
        guard CryptAlphabet.isSalt(fields[1], lengths: 1...16),
            fields[1].utf8.allSatisfy(CryptAlphabet.common.contains),
            fields.fields.count == 3 || fields[2].isEmpty
        else { throw fields.fault("the salt does not have 1 to 16 allowed characters") }
        guard CryptAlphabet.isCommon(fields.fields.last ?? "", length: 22) else {
            throw fields.fault("the hash does not have 22 characters of the alphabet")
        }
        // The method adds 4096 rounds to the number in the text.
        return Crypt(
            method: .sunmd5,
            stored: stored,
            parameters: "rounds=\(rounds + 4096)",
            time: .microseconds(2 * (rounds + 4096))
        )
    }

    /// md5-crypt: `$1$salt$hash`.
    static func md5(_ stored: String, rest: Substring) throws(BadHash) -> Crypt {
        let fields = try HashFields(rest, of: "md5crypt", counts: 2...2)
        guard CryptAlphabet.isSalt(fields[0], lengths: 1...8) else {
            throw fields.fault("the salt does not have 1 to 8 allowed characters")
        }
        guard CryptAlphabet.isCommon(fields[1], length: 22) else {
            throw fields.fault("the hash does not have 22 characters of the alphabet")
        }
        return Crypt(method: .md5crypt, stored: stored, time: .microseconds(200))
    }

    /// The NT hash: `$3$$hash`.
    static func nt(_ stored: String, rest: Substring) throws(BadHash) -> Crypt {
        guard rest.first == "$", Hexadecimal.decodeLowercase(rest.dropFirst())?.count == 16 else {
            throw BadHash("nt: not $3$$ followed by 32 hexadecimal digits in lower case")
        }
        return Crypt(method: .nt, stored: stored)
    }

    /// BSDI's extended DES: `_`, then four characters for the rounds, four for the salt, and eleven for the hash.
    static func bsdi(_ stored: String, rest: Substring) throws(BadHash) -> Crypt {
        guard CryptAlphabet.isCommon(rest, length: 19), endsInZeroBits(stored) else {
            throw BadHash("bsdicrypt: not _ followed by 19 characters of the alphabet")
        }
        // The number of rounds has 24 bits, with the least significant character first.
        let rounds = rest.utf8.prefix(4).reversed().reduce(0) { $0 << 6 | (CryptAlphabet.value($1) ?? 0) }
        guard rounds > 0 else { throw BadHash("bsdicrypt: the number of rounds is 0") }
        return Crypt(
            method: .bsdicrypt,
            stored: stored,
            parameters: "rounds=\(rounds)",
            time: .nanoseconds(150 * rounds)
        )
    }
}
