// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The algorithm and the cost of new password hashes.
public enum HashScheme: Sendable, Hashable {
    /// Argon2id, RFC 9106: memory in KiB, passes over it, lanes.
    case argon2id(memory: Int, passes: Int, lanes: Int)
    /// yescrypt of crypt(3): 5 takes 16 MiB, each step doubles it.
    case yescrypt(cost: Int)
    /// bcrypt, for passwords of up to 72 bytes: each step doubles the time.
    case bcrypt(cost: Int)
    /// SHA-512 crypt of crypt(3).
    case sha512crypt(rounds: Int)
    /// scrypt, RFC 7914: the binary logarithm of N, the block size, the number of lanes.
    case scrypt(logN: Int, r: Int, p: Int)
    /// PBKDF2 with HMAC-SHA-256.
    case pbkdf2SHA256(iterations: Int)
    /// PBKDF2 with HMAC-SHA-512.
    case pbkdf2SHA512(iterations: Int)
}

extension HashScheme {
    /// The scheme's name, as in `argon2id`.
    public var name: String {
        switch self {
        case .argon2id: "argon2id"
        case .yescrypt: "yescrypt"
        case .bcrypt: "bcrypt"
        case .sha512crypt: "sha512crypt"
        case .scrypt: "scrypt"
        case .pbkdf2SHA256: "pbkdf2-sha256"
        case .pbkdf2SHA512: "pbkdf2-sha512"
        }
    }

    /// The parameter that is out of bounds, as the end of a sentence that begins with the scheme; nil if all are
    /// within.
    var fault: String? {
        switch self {
        case .argon2id(let memory, let passes, let lanes):
            guard (1...16).contains(lanes) else { return "takes 1 to 16 lanes, not \(lanes)" }
            guard (max(64, 8 * lanes)...Argon2.Parameters.mostMemory).contains(memory) else {
                return "takes 64KiB to 2GiB of memory, not \(MemorySize.text(kibibytes: memory))"
            }
            guard (1...Argon2.Parameters.mostPasses).contains(passes),
                memory * passes <= Argon2.Parameters.mostWork
            else { return "takes 1 to 64 passes and 16GiB over all passes, not \(passes)" }
        case .yescrypt(let cost):
            guard (1...11).contains(cost) else { return "takes a cost of 1 to 11, not \(cost)" }
        case .bcrypt(let cost):
            guard HashBounds.bcrypt.contains(cost) else { return "takes a cost of 4 to 17, not \(cost)" }
        case .sha512crypt(let rounds):
            guard HashBounds.shaRounds.contains(rounds) else { return "takes 1000 to 10000000 rounds, not \(rounds)" }
        case .scrypt(let logN, let r, let p):
            guard Scrypt.Parameters(logN: logN, r: r, p: p) != nil, logN >= 4, r * p << logN <= 1 << 24 else {
                return "takes ln from 4 to 24 with r and p of up to 2GiB of memory, not ln=\(logN) r=\(r) p=\(p)"
            }
        case .pbkdf2SHA256(let iterations), .pbkdf2SHA512(let iterations):
            guard (1000...PBKDF2.mostIterations).contains(iterations) else {
                return "takes 1000 to \(PBKDF2.mostIterations) iterations, not \(iterations)"
            }
        }
        return nil
    }

    /// Returns whether guessing costs an attacker less than with another scheme of the same algorithm; nil if the
    /// algorithms differ.
    ///
    /// Lanes make no difference.
    func isWeaker(than other: Self) -> Bool? {
        switch (self, other) {
        case (.argon2id(let memory, let passes, _), .argon2id(let least, let leastPasses, _)):
            memory < least || passes < leastPasses
        case (.yescrypt(let cost), .yescrypt(let least)), (.bcrypt(let cost), .bcrypt(let least)),
            (.sha512crypt(let cost), .sha512crypt(let least)), (.pbkdf2SHA256(let cost), .pbkdf2SHA256(let least)),
            (.pbkdf2SHA512(let cost), .pbkdf2SHA512(let least)):
            cost < least
        case (.scrypt(let logN, let r, let p), .scrypt(let leastN, let leastR, let leastP)):
            r << logN < leastR << leastN || (r * p) << logN < (leastR * leastP) << leastN
        case (.argon2id, _), (.yescrypt, _), (.bcrypt, _), (.sha512crypt, _), (.scrypt, _), (.pbkdf2SHA256, _),
            (.pbkdf2SHA512, _):
            nil
        }
    }

    /// Returns libxcrypt's cost of yescrypt with these parameters; nil if there is none.
    static func yescryptCost(logN: Int, r: Int) -> Int? {
        switch (r, logN) {
        case (8, 10...11): logN - 9
        case (32, 10...18): logN - 7
        case _: nil
        }
    }
}
