// SPDX-License-Identifier: Apache-2.0

/// The algorithm and the cost of new password hashes.
public enum HashScheme: Sendable, Hashable {
    /// Argon2id (RFC 9106) with the memory in KiB, the passes over the memory, and the lanes.
    case argon2id(memory: Int, passes: Int, lanes: Int)
    /// yescrypt of crypt(3): a cost of 5 takes 16 MiB, and each step doubles the memory.
    case yescrypt(cost: Int)
    /// bcrypt, for passwords of at most 72 bytes; each step of the cost doubles the time.
    case bcrypt(cost: Int)
    /// SHA-512 crypt of crypt(3).
    case sha512crypt(rounds: Int)
    /// scrypt (RFC 7914) with the binary logarithm of N, the block size r, and the parallelization p.
    case scrypt(logN: Int, r: Int, p: Int)
    /// PBKDF2 with HMAC-SHA-256.
    case pbkdf2SHA256(iterations: Int)
    /// PBKDF2 with HMAC-SHA-512.
    case pbkdf2SHA512(iterations: Int)
}

extension HashScheme {
    /// The scheme's name, such as `argon2id`.
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

    /// The fault of a parameter that is out of bounds, to complete a sentence that begins with the scheme's name.
    var boundsFault: String? {
        switch self {
        case .argon2id(let memory, let passes, let lanes):
            guard (1...16).contains(lanes) else { return "takes 1 to 16 lanes, not \(lanes)" }
            guard (max(64, 8 * lanes)...Argon2.Parameters.maximumMemory).contains(memory) else {
                return "takes 64KiB to 2GiB of memory, not \(MemorySize.text(kibibytes: memory))"
            }
            guard (1...Argon2.Parameters.maximumPasses).contains(passes),
                memory * passes <= Argon2.Parameters.maximumWork
            else { return "takes 1 to 64 passes, with memory times passes up to 16GiB, not \(passes)" }
        case .yescrypt(let cost):
            guard (1...11).contains(cost) else { return "takes a cost of 1 to 11, not \(cost)" }
        case .bcrypt(let cost):
            guard CostBounds.bcrypt.contains(cost) else { return "takes a cost of 4 to 17, not \(cost)" }
        case .sha512crypt(let rounds):
            guard CostBounds.shaRounds.contains(rounds) else { return "takes 1000 to 10000000 rounds, not \(rounds)" }
        case .scrypt(let logN, let r, let p):
            guard Scrypt.Parameters(logN: logN, r: r, p: p) != nil, logN >= 4, r * p << logN <= 1 << 24 else {
                return "takes ln from 4 to 24, and r and p for up to 2GiB of memory, not ln=\(logN) r=\(r) p=\(p)"
            }
        case .pbkdf2SHA256(let iterations), .pbkdf2SHA512(let iterations):
            guard (1000...PBKDF2.maximumIterations).contains(iterations) else {
                return "takes 1000 to \(PBKDF2.maximumIterations) iterations, not \(iterations)"
            }
        }
        return nil
    }

    /// Returns whether guessing passwords is cheaper than with another scheme of this algorithm; lanes do not count.
    func isWeaker(than other: Self) -> Bool? {
        switch (self, other) {
        case (.argon2id(let memory, let passes, _), .argon2id(let otherMemory, let otherPasses, _)):
            memory < otherMemory || passes < otherPasses
        case (.yescrypt(let cost), .yescrypt(let otherCost)), (.bcrypt(let cost), .bcrypt(let otherCost)),
            (.sha512crypt(let cost), .sha512crypt(let otherCost)),
            (.pbkdf2SHA256(let cost), .pbkdf2SHA256(let otherCost)),
            (.pbkdf2SHA512(let cost), .pbkdf2SHA512(let otherCost)):
            cost < otherCost
        case (.scrypt(let logN, let r, let p), .scrypt(let otherLogN, let otherR, let otherP)):
            r << logN < otherR << otherLogN || (r * p) << logN < (otherR * otherP) << otherLogN
        case (.argon2id, _), (.yescrypt, _), (.bcrypt, _), (.sha512crypt, _), (.scrypt, _), (.pbkdf2SHA256, _),
            (.pbkdf2SHA512, _):
            nil
        }
    }

    /// Returns the cost for which libxcrypt uses these parameters of yescrypt.
    static func yescryptCost(logN: Int, r: Int) -> Int? {
        switch (r, logN) {
        case (8, 10...11): logN - 9
        case (32, 10...18): logN - 7
        case _: nil
        }
    }
}

/// The bounds of the costs of stored hashes and policies, above which one check takes about ten seconds or longer.
enum CostBounds {
    /// Each step doubles the time: 12 takes about a quarter of a second, 17 eight seconds.
    static let bcrypt = 4...17
    /// From the lower bound of libxcrypt to a hundredth of its upper bound.
    static let shaRounds = 1000...10_000_000
    static let maximumDigestRounds = 10_000_000
    static let maximumSunRounds = 1_000_000
    /// The binary logarithm of the rounds; the lower bound is that of phpass.
    static let phpass = 7...22
}
