// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLKit

/// Apache's variant of md5-crypt, `$apr1$`, which crypt(3) does not support; it is weak: 1000 rounds of MD5.
struct ApacheMD5: KeyDerivation {
    let salt: [UInt8]
    let storedHash: [UInt8]

    private static let magic = Array("$apr1$".utf8)
    private static let rounds = 1000

    var cost: HashCost { HashCost(format: "apr1", time: .microseconds(500)) }

    func derive(_ password: Span<UInt8>, into bytes: inout MutableSpan<UInt8>) throws {
        var hashing = try Hashing(.md5)
        try hashing.append(password)
        try hashing.append(salt.span)
        try hashing.append(password)
        try hashing.finish(into: &bytes)

        try hashing.append(password)
        try hashing.append(Self.magic.span)
        try hashing.append(salt.span)
        var left = password.count
        while left > 0 {
            try hashing.append(bytes.span.extracting(first: left))
            left -= bytes.count
        }
        // For every bit of the length one byte is hashed: NUL for a 1, the first byte of the password for a 0.
        let nul: [UInt8] = [0]
        var bits = password.count
        while bits > 0 {
            if bits & 1 == 1 { try hashing.append(nul.span) } else { try hashing.append(password.extracting(first: 1)) }
            bits >>= 1
        }
        try hashing.finish(into: &bytes)

        for round in 0..<Self.rounds {
            if round & 1 == 1 { try hashing.append(password) } else { try hashing.append(bytes.span) }
            if round % 3 != 0 { try hashing.append(salt.span) }
            if round % 7 != 0 { try hashing.append(password) }
            if round & 1 == 1 { try hashing.append(bytes.span) } else { try hashing.append(password) }
            try hashing.finish(into: &bytes)
        }
    }
}

/// The format `$apr1$salt$hash` of Apache's htpasswd.
enum ApacheMD5Format: PasswordFormat {
    static func read(_ stored: String, options: FormatOptions) throws(BadHash) -> (any PasswordAlgorithm)? {
        guard stored.hasPrefix("$apr1$") else { return nil }
        let fields = try HashFields(stored.dropFirst(6), of: "apr1", counts: 2...2)
        try fields.checkSalt(fields[0], lengths: 1...8)
        guard CryptAlphabet.isCommon(fields[1], length: 22), let digest = CryptAlphabet.digest(fields[1], order: order)
        else { throw fields.fault("the hash does not have 22 characters of the alphabet") }
        return ApacheMD5(salt: Array(fields[0].utf8), storedHash: digest)
    }

    /// The order of ``CryptAlphabet/digest(_:order:)``.
    private static let order = [[0, 6, 12], [1, 7, 13], [2, 8, 14], [3, 9, 15], [4, 10, 5], [11]]
}

/// The MD5 of salt and password, then many times that of the result and the password: cheap for graphics cards.
struct Phpass: KeyDerivation {
    let rounds: Int
    let salt: [UInt8]
    let storedHash: [UInt8]

    var cost: HashCost {
        // The time of a long password: each round hashes the whole password.
        HashCost(format: "phpass", parameters: "rounds=\(rounds)", time: .microseconds(2 * rounds))
    }

    func derive(_ password: Span<UInt8>, into bytes: inout MutableSpan<UInt8>) throws {
        var hashing = try Hashing(.md5)
        try hashing.append(salt.span)
        try hashing.append(password)
        try hashing.finish(into: &bytes)
        for _ in 0..<rounds {
            try hashing.append(bytes.span)
            try hashing.append(password)
            try hashing.finish(into: &bytes)
        }
    }
}

/// The portable hashes of phpass: `$P$`, one character for the rounds, eight characters of salt, and the hash.
///
/// WordPress before 6.8 and other programs in PHP write them; phpBB writes `$H$`. Source: `crypt_private` in
/// PasswordHash.php of phpass 0.5.
enum PhpassFormat: PasswordFormat {
    static func read(_ stored: String, options: FormatOptions) throws(BadHash) -> (any PasswordAlgorithm)? {
        guard stored.hasPrefix("$P$") || stored.hasPrefix("$H$") else { return nil }
        let fields = try HashFields(stored.dropFirst(3), of: "phpass", counts: 1...1)
        guard CryptAlphabet.isCommon(fields[0], length: 31) else {
            throw fields.fault("there are not 31 characters of the alphabet behind \(stored.prefix(3))")
        }
        guard let logarithm = fields[0].utf8.first.flatMap(CryptAlphabet.value), CostBounds.phpass.contains(logarithm)
        else {
            throw fields.fault(
                "the number of rounds is not from 2^\(CostBounds.phpass.lowerBound) to 2^\(CostBounds.phpass.upperBound)"
            )
        }
        guard let digest = CryptAlphabet.digest(fields[0].dropFirst(9), order: order) else {
            throw fields.fault("the pad bits at the end of the hash are not zero")
        }
        return Phpass(rounds: 1 << logarithm, salt: Array(fields[0].utf8.dropFirst().prefix(8)), storedHash: digest)
    }

    private static let order = [[2, 1, 0], [5, 4, 3], [8, 7, 6], [11, 10, 9], [14, 13, 12], [15]]
}
