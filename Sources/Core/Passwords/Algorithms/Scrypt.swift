// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLKit

/// scrypt (RFC 7914), computed by OpenSSL.
struct Scrypt: KeyDerivation {
    /// The parameters that determine the cost.
    struct Parameters: Sendable, Hashable {
        /// The binary logarithm of N.
        let logN: Int
        let r: Int
        let p: Int

        static let maximumMemory = 2 << 30
        /// The maximum product of the memory in bytes and p.
        ///
        /// Such a hash takes about ten seconds.
        static let maximumWork = 8 << 30

        /// The size of the array V, in bytes.
        ///
        /// V takes most of the memory.
        var memory: Int { 128 * r << logN }

        /// Creates parameters; nil if they are out of bounds.
        init?(logN: Int, r: Int, p: Int) {
            guard (1...24).contains(logN), (1...256).contains(r), (1...256).contains(p),
                128 * r << logN <= Self.maximumMemory, 128 * r * p << logN <= Self.maximumWork,
                // RFC 7914 section 6: N is less than 2^(128 r / 8).
                logN < 16 * r
            else { return nil }
            self.logN = logN
            self.r = r
            self.p = p
        }
    }

    let parameters: Parameters
    let salt: [UInt8]
    let storedHash: [UInt8]

    var cost: HashCost {
        HashCost(
            format: "scrypt",
            parameters: "ln=\(parameters.logN),r=\(parameters.r),p=\(parameters.p)",
            memory: parameters.memory,
            time: .nanoseconds(4 * parameters.memory * parameters.p)
        )
    }

    var scheme: HashScheme? {
        guard salt.count >= 16, storedHash.count >= 32 else { return nil }
        return .scrypt(logN: parameters.logN, r: parameters.r, p: parameters.p)
    }

    func derive(_ password: Span<UInt8>, into bytes: inout MutableSpan<UInt8>) throws(HashFault) {
        try HashFault.rejectTrailingNUL(in: password, format: "scrypt")
        do {
            try PasswordDerivation.scrypt(
                password,
                salt: salt.span,
                n: 1 << UInt64(parameters.logN),
                r: UInt64(parameters.r),
                p: UInt64(parameters.p),
                // OpenSSL counts N + 2 blocks for V and p blocks for B. A block has 128 r bytes.
                maximumMemory: UInt64(parameters.memory + 128 * parameters.r * (parameters.p + 2) + 4096),
                into: &bytes
            )
        } catch {
            throw HashFault(error)
        }
    }
}
