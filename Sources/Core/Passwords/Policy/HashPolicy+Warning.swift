// SPDX-License-Identifier: Apache-2.0

extension HashPolicy {
    /// The warning for the administrator that this policy is weak; nil for a policy that is strong enough.
    ///
    /// The minimums are from OWASP's Password Storage Cheat Sheet.
    ///
    /// The sheet has no minimum for yescrypt and SHA-512 crypt. Here the minimum for yescrypt is 16 MiB, the default of
    /// libxcrypt. The minimum for SHA-512 crypt is 210 000 rounds, the sheet's minimum for PBKDF2 with HMAC-SHA-512.
    public var warning: String? {
        guard let minimum = scheme.minimum else { return nil }
        return "\(self) is weak; the minimum is \(minimum)"
    }
}

extension HashScheme {
    /// The minimum parameters of this algorithm if the scheme is below them; otherwise nil.
    fileprivate var minimum: String? {
        switch self {
        case .argon2id(let memory, let passes, _):
            // The sheet's pairs of passes and memory in MiB. With more passes less memory is enough.
            let pairs = [(1, 46), (2, 19), (3, 12), (4, 9), (5, 7)]
            let isEnough = pairs.contains { passes >= $0.0 && memory >= $0.1 << 10 }
            return isEnough ? nil : "memory=19MiB passes=2, or memory=46MiB passes=1"
        case .yescrypt(let cost): return cost >= 5 ? nil : "cost=5"
        case .bcrypt(let cost): return cost >= 10 ? nil : "cost=10"
        case .sha512crypt(let rounds): return rounds >= 210_000 ? nil : "rounds=210000"
        case .scrypt(let logN, let r, let p):
            // The sheet's pairs of log N and p, for r=8.
            let pairs = [(17, 1), (16, 2), (15, 3), (14, 5), (13, 10)]
            let isEnough = pairs.contains { logN >= $0.0 && p >= $0.1 && r >= 8 }
            return isEnough ? nil : "ln=17 r=8 p=1"
        case .pbkdf2SHA256(let iterations): return iterations >= 600_000 ? nil : "iterations=600000"
        case .pbkdf2SHA512(let iterations): return iterations >= 210_000 ? nil : "iterations=210000"
        }
    }
}
