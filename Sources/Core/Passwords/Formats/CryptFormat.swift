// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// The hashes of crypt(3), of which every part is checked before the hash is passed to libxcrypt.
enum CryptFormat: PasswordFormat {
    static func read(_ stored: String, options: FormatOptions) throws(BadHash) -> (any PasswordAlgorithm)? {
        try crypt(stored)
    }

    /// Reads a hash of crypt(3); nil for another format.
    static func crypt(_ stored: String) throws(BadHash) -> Crypt? {
        for (prefix, read) in readers where stored.hasPrefix(prefix) {
            return try read(stored, stored.dropFirst(prefix.count))
        }
        // A DES hash has 13 characters of the alphabet; the last has 4 bits of the hash and two zero bits.
        guard CryptAlphabet.isCommon(stored, length: 13), endsInZeroBits(stored) else { return nil }
        return Crypt(method: .descrypt, stored: stored)
    }

    private typealias Reader = @Sendable (_ stored: String, _ rest: Substring) throws(BadHash) -> Crypt

    private static let readers: [(String, Reader)] = [
        ("$y$", { stored, rest throws(BadHash) in try yescrypt(stored, rest: rest, method: .yescrypt) }),
        ("$gy$", { stored, rest throws(BadHash) in try yescrypt(stored, rest: rest, method: .gostYescrypt) }),
        ("$7$", { stored, rest throws(BadHash) in try scrypt(stored, rest: rest) }),
        ("$2", { stored, rest throws(BadHash) in try bcrypt(stored, rest: rest) }),
        ("$6$", { stored, rest throws(BadHash) in try sha(stored, rest: rest, method: .sha512crypt, digits: 86) }),
        ("$5$", { stored, rest throws(BadHash) in try sha(stored, rest: rest, method: .sha256crypt, digits: 43) }),
        ("$sha1$", { stored, rest throws(BadHash) in try sha1(stored, rest: rest) }),
        ("$md5", { stored, rest throws(BadHash) in try sunMD5(stored, rest: rest) }),
        ("$1$", { stored, rest throws(BadHash) in try md5(stored, rest: rest) }),
        ("$3$", { stored, rest throws(BadHash) in try nt(stored, rest: rest) }),
        ("_", { stored, rest throws(BadHash) in try bsdi(stored, rest: rest) }),
    ]

    private static func bcrypt(_ stored: String, rest: Substring) throws(BadHash) -> Crypt {
        let fields = try HashFields(rest, of: "bcrypt", counts: 3...3)
        guard fields[0] != "x" else {
            throw BadHash(
                "bcrypt: $2x$ marks a hash of a broken implementation; many wrong passwords match it; set a new password"
            )
        }
        guard ["a", "b", "y"].contains(fields[0]) else { throw BadHash("bcrypt: the prefix is not $2a$, $2b$ or $2y$") }
        let digits = fields[1].utf8.count == 2 && fields[1].first == "0" ? fields[1].dropFirst() : fields[1]
        guard fields[1].utf8.count == 2 else { throw fields.fault("the cost does not have two digits") }
        let cost = try fields.number(digits, named: "the cost", in: CostBounds.bcrypt)
        let text = Array(fields[2].utf8)
        let values = text.compactMap { CryptAlphabet.bcrypt.firstIndex(of: $0) }
        guard text.count == 53, values.count == 53 else {
            throw fields.fault("salt and hash together do not have 53 characters of the alphabet")
        }
        // 22 characters encode the 16 bytes of the salt, 31 the 23 bytes of the hash; the pad bits must be zero.
        guard values[21] % 16 == 0, values[52] % 4 == 0 else {
            throw fields.fault("the pad bits at the end of the salt or the hash are not zero")
        }
        return Crypt(
            method: .bcrypt,
            stored: stored,
            parameters: "cost=\(cost)",
            time: .microseconds(60 << cost),
            memory: 4096,
            scheme: .bcrypt(cost: cost)
        )
    }

    private static func sha(
        _ stored: String,
        rest: Substring,
        method: Crypt.Method,
        digits count: Int
    ) throws(BadHash) -> Crypt {
        let fields = try HashFields(rest, of: method.rawValue, counts: 2...3)
        var rounds = 5000
        if fields.fields.count == 3 {
            guard fields[0].hasPrefix("rounds=") else {
                throw fields.fault("the first of three fields does not begin with rounds=")
            }
            rounds = try fields.number(fields[0].dropFirst(7), named: "rounds", in: CostBounds.shaRounds)
        }
        let salt = fields.fields.suffix(2).first ?? ""
        try fields.checkSalt(salt, lengths: 1...16)
        try fields.checkHash(fields.fields.last ?? "", length: count)
        // With the default number of rounds in the parameters, texts with and without the number have the same cost.
        return Crypt(
            method: method,
            stored: stored,
            parameters: "rounds=\(rounds)",
            // The time of a password of 512 bytes: each round hashes the whole password.
            time: .nanoseconds((method == .sha512crypt ? 1500 : 2500) * rounds),
            scheme: method == .sha512crypt && salt.utf8.count >= 8 ? .sha512crypt(rounds: rounds) : nil
        )
    }

    /// Returns whether the two pad bits are zero: a DES hash has 64 bits, and its 11 characters encode 66 bits.
    static func endsInZeroBits(_ stored: String) -> Bool {
        stored.utf8.last.flatMap(CryptAlphabet.value).map { $0 % 4 == 0 } ?? false
    }
}

/// The obsolete methods of crypt(3).
extension CryptFormat {
    /// sha1-crypt: `$sha1$iterations$salt$hash`.
    static func sha1(_ stored: String, rest: Substring) throws(BadHash) -> Crypt {
        let fields = try HashFields(rest, of: "sha1crypt", counts: 3...3)
        let rounds = try fields.iterations(fields[0], maximum: CostBounds.maximumDigestRounds)
        guard CryptAlphabet.isSalt(fields[1], lengths: 1...64), fields[1].utf8.allSatisfy(CryptAlphabet.common.contains)
        else { throw fields.fault("the salt does not have 1 to 64 allowed characters") }
        try fields.checkHash(fields[2], length: 28)
        return Crypt(method: .sha1crypt, stored: stored, parameters: "rounds=\(rounds)", time: .microseconds(rounds))
    }

    /// SunMD5: `$md5$salt$hash` or `$md5,rounds=N$salt$hash`; a second `$` may stand before the hash.
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
        try fields.checkHash(fields.fields.last ?? "", length: 22)
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
        try fields.checkSalt(fields[0], lengths: 1...8)
        try fields.checkHash(fields[1], length: 22)
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
