// SPDX-License-Identifier: Apache-2.0
// Gatehouse

extension HashPolicy.Scheme {
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

    /// What is out of bounds: the end of a sentence that begins with the scheme; nil if nothing is.
    var fault: String? {
        switch self {
        case .argon2id(let memory, let passes, let lanes):
            guard (1...16).contains(lanes) else { return "takes 1 to 16 lanes, not \(lanes)" }
            guard (max(64, 8 * lanes)...Argon2.Parameters.mostMemory).contains(memory) else {
                return "takes 64KiB to 2GiB of memory, not \(MemorySize.text(kibibytes: memory))"
            }
            guard (1...Argon2.Parameters.mostPasses).contains(passes),
                memory * passes <= Argon2.Parameters.mostWork
            else { return "takes 1 to 64 passes and 16GiB in all of them, not \(passes)" }
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

    /// Whether it costs less than another of the same kind in what makes guessing dear; lanes do not.
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

    /// libxcrypt's cost of yescrypt that has these parameters; nil if none has.
    static func yescryptCost(logN: Int, r: Int) -> Int? {
        switch (r, logN) {
        case (8, 10...11): logN - 9
        case (32, 10...18): logN - 7
        case _: nil
        }
    }
}

extension HashPolicy {
    /// Whether a stored hash is weaker than this policy wants or of another scheme, so that it should be made anew.
    ///
    /// Weaker is what has less of memory, passes, rounds or iterations, a short salt or key, or an old version. A stronger
    /// one of the same scheme is left as it is.
    ///
    /// - Parameter hash: The stored hash.
    /// - Returns: Whether it should; for a decoy, which is nobody's, false.
    public func wantsRehash(of hash: any PasswordHash) -> Bool {
        guard let stored = hash as? StoredHash else { return true }
        if stored.isDecoy { return false }
        return stored.algorithm.scheme?.isWeaker(than: scheme) ?? true
    }
}
