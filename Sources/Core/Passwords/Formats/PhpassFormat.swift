// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLKit

/// The portable hashes of phpass: `$P$`, one character for the rounds, eight characters of salt, and the hash.
///
/// WordPress before 6.8 and many other programs in PHP write them; phpBB writes `$H$`.
///
/// Source: `crypt_private` in PasswordHash.php of phpass 0.5.
enum PhpassFormat: PasswordFormat {
    static let names = ["phpass"]

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

/// The MD5 of salt and password, and then many times the MD5 of the result and the password.
///
/// It is weak: guessing is cheap on graphics cards.
struct Phpass: KeyDerivation {
    let rounds: Int
    let salt: [UInt8]
    let storedHash: [UInt8]

    var cost: HashCost {
        // The time of a long password: each round hashes the whole password.
        HashCost(format: "phpass", parameters: "rounds=\(rounds)", time: .microseconds(2 * rounds))
    }

    func derive(_ password: Span<UInt8>, into bytes: inout MutableSpan<UInt8>) throws(HashFault) {
        do {
            var hashing = try Hashing(.md5)
            try hashing.append(salt.span)
            try hashing.append(password)
            try hashing.finish(into: &bytes)
            for _ in 0..<rounds {
                try hashing.append(bytes.span)
                try hashing.append(password)
                try hashing.finish(into: &bytes)
            }
        } catch {
            throw HashFault(error)
        }
    }
}
