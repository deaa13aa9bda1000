// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// crypt(3)'s hashes, every part of them checked before libxcrypt sees them.
enum CryptFormat: PasswordFormat {
    static let names = [
        "yescrypt", "gost-yescrypt", "scrypt7", "bcrypt", "sha512crypt", "sha256crypt", "sha1crypt", "sunmd5",
        "md5crypt", "nt", "bsdicrypt", "descrypt",
    ]

    static func read(_ stored: String, _ options: FormatOptions) throws(BadHash) -> (any PasswordAlgorithm)? {
        try crypt(stored)
    }

    /// Reads a hash of crypt(3); nil if it is of another format.
    static func crypt(_ stored: String) throws(BadHash) -> Crypt? {
        for (prefix, read) in readers where stored.hasPrefix(prefix) {
            return try read(stored, stored.dropFirst(prefix.count))
        }
        // Without a prefix: 13 characters of the alphabet, the last with 4 bits of the hash and two zeros.
        guard CryptText.isCommon(stored, 13), isShort(stored) else { return nil }
        return Crypt(method: .descrypt, stored: stored)
    }

    private typealias Reader = @Sendable (_ stored: String, _ rest: Substring) throws(BadHash) -> Crypt

    private static let readers: [(String, Reader)] = [
        ("$y$", { stored, rest throws(BadHash) in try yescrypt(stored, rest, .yescrypt) }),
        ("$gy$", { stored, rest throws(BadHash) in try yescrypt(stored, rest, .gostYescrypt) }),
        ("$7$", { stored, rest throws(BadHash) in try scrypt(stored, rest) }),
        ("$2", { stored, rest throws(BadHash) in try bcrypt(stored, rest) }),
        ("$6$", { stored, rest throws(BadHash) in try sha(stored, rest, .sha512crypt, 86) }),
        ("$5$", { stored, rest throws(BadHash) in try sha(stored, rest, .sha256crypt, 43) }),
        ("$sha1$", { stored, rest throws(BadHash) in try sha1(stored, rest) }),
        ("$md5", { stored, rest throws(BadHash) in try sunMD5(stored, rest) }),
        ("$1$", { stored, rest throws(BadHash) in try md5(stored, rest) }),
        ("$3$", { stored, rest throws(BadHash) in try nt(stored, rest) }),
        ("_", { stored, rest throws(BadHash) in try bsdi(stored, rest) }),
    ]

    private static func bcrypt(_ stored: String, _ rest: Substring) throws(BadHash) -> Crypt {
        let fields = try HashFields(rest, of: "bcrypt", counts: 3...3)
        guard fields[0] != "x" else {
            throw BadHash(
                "bcrypt: $2x$ marks hashes of a broken implementation, which many passwords match; set it anew"
            )
        }
        guard ["a", "b", "y"].contains(fields[0]) else { throw BadHash("bcrypt: the prefix is not $2a$, $2b$ or $2y$") }
        let digits = fields[1].utf8.count == 2 && fields[1].first == "0" ? fields[1].dropFirst() : fields[1]
        guard fields[1].utf8.count == 2 else { throw fields.fault("the cost is not of two digits") }
        let cost = try fields.number(digits, "the cost", in: HashBounds.bcrypt)
        let text = Array(fields[2].utf8)
        let values = text.compactMap { CryptText.bcrypt.firstIndex(of: $0) }
        guard text.count == 53, values.count == 53 else { throw fields.fault("not 53 characters of salt and hash") }
        // 16 bytes of salt in 22 characters, 23 of hash in 31: the bits that are left are zero.
        guard values[21] % 16 == 0, values[52] % 4 == 0 else {
            throw fields.fault("salt or hash end in bits that no implementation writes")
        }
        return Crypt(
            method: .bcrypt,
            stored: stored,
            parameters: "cost=\(cost)",
            memory: 4096,
            scheme: .bcrypt(cost: cost)
        )
    }

    private static func sha(
        _ stored: String,
        _ rest: Substring,
        _ method: Crypt.Method,
        _ count: Int
    ) throws(BadHash) -> Crypt {
        let fields = try HashFields(rest, of: method.rawValue, counts: 2...3)
        var rounds = 5000
        if fields.fields.count == 3 {
            guard fields[0].hasPrefix("rounds=") else { throw fields.fault("the first of three fields is not rounds=") }
            rounds = try fields.number(fields[0].dropFirst(7), "rounds", in: HashBounds.shaRounds)
        }
        let salt = fields.fields.suffix(2).first ?? ""
        guard CryptText.isSalt(salt, 1...16) else { throw fields.fault("the salt is not of 1 to 16 characters") }
        guard CryptText.isCommon(fields.fields.last ?? "", count) else {
            throw fields.fault("the hash is not of \(count) characters")
        }
        // The rounds written out cost the same as the rounds left out.
        return Crypt(
            method: method,
            stored: stored,
            parameters: "rounds=\(rounds)",
            scheme: method == .sha512crypt && salt.utf8.count >= 8 ? .sha512crypt(rounds: rounds) : nil
        )
    }

    private static func sha1(_ stored: String, _ rest: Substring) throws(BadHash) -> Crypt {
        let fields = try HashFields(rest, of: "sha1crypt", counts: 3...3)
        let rounds = try fields.number(fields[0], "the number of iterations", in: 1...HashBounds.mostSHA1Rounds)
        guard CryptText.isSalt(fields[1], 1...64), fields[1].utf8.allSatisfy(CryptText.common.contains) else {
            throw fields.fault("the salt is not of 1 to 64 characters")
        }
        guard CryptText.isCommon(fields[2], 28) else { throw fields.fault("the hash is not of 28 characters") }
        return Crypt(method: .sha1crypt, stored: stored, parameters: "rounds=\(rounds)")
    }

    private static func sunMD5(_ stored: String, _ rest: Substring) throws(BadHash) -> Crypt {
        // $md5$salt$hash, $md5,rounds=N$salt$hash, and both with another $ before the hash.
        let fields = try HashFields(rest, of: "sunmd5", counts: 3...4)
        var rounds = 0
        if !fields[0].isEmpty {
            guard fields[0].hasPrefix(",rounds=") else { throw fields.fault("neither $md5$ nor $md5,rounds=") }
            rounds = try fields.number(fields[0].dropFirst(8), "rounds", in: 1...HashBounds.mostSunRounds)
        }
        guard CryptText.isSalt(fields[1], 1...16), fields[1].utf8.allSatisfy(CryptText.common.contains),
            fields.fields.count == 3 || fields[2].isEmpty
        else { throw fields.fault("the salt is not of 1 to 16 characters") }
        guard CryptText.isCommon(fields.fields.last ?? "", 22) else {
            throw fields.fault("the hash is not of 22 characters")
        }
        // The method has 4096 rounds more than the text says.
        return Crypt(method: .sunmd5, stored: stored, parameters: "rounds=\(rounds + 4096)")
    }

    private static func md5(_ stored: String, _ rest: Substring) throws(BadHash) -> Crypt {
        let fields = try HashFields(rest, of: "md5crypt", counts: 2...2)
        guard CryptText.isSalt(fields[0], 1...8) else { throw fields.fault("the salt is not of 1 to 8 characters") }
        guard CryptText.isCommon(fields[1], 22) else { throw fields.fault("the hash is not of 22 characters") }
        return Crypt(method: .md5crypt, stored: stored)
    }

    private static func nt(_ stored: String, _ rest: Substring) throws(BadHash) -> Crypt {
        guard rest.first == "$", Hexadecimal.decode(rest.dropFirst())?.count == 16 else {
            throw BadHash("nt: not $3$$ and 32 hexadecimal digits in lower case")
        }
        return Crypt(method: .nt, stored: stored)
    }

    private static func bsdi(_ stored: String, _ rest: Substring) throws(BadHash) -> Crypt {
        guard CryptText.isCommon(rest, 19), isShort(stored) else {
            throw BadHash("bsdicrypt: not _ and 19 characters of the alphabet")
        }
        // 24 bits, the least significant character first.
        let rounds = rest.utf8.prefix(4).reversed().reduce(0) { $0 << 6 | (CryptText.value($1) ?? 0) }
        guard rounds > 0 else { throw BadHash("bsdicrypt: no rounds at all") }
        return Crypt(method: .bsdicrypt, stored: stored, parameters: "rounds=\(rounds)")
    }

    /// Whether the last of 11 characters ends in the two zero bits that the 64 bits of a DES block leave over.
    private static func isShort(_ stored: String) -> Bool {
        stored.utf8.last.flatMap(CryptText.value).map { $0 % 4 == 0 } ?? false
    }
}
