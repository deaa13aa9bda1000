// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import OpenSSLKit

/// scrypt (RFC 7914), computed by OpenSSL.
struct Scrypt: KeyDerivation {
    struct Parameters: Sendable, Hashable {
        /// The binary logarithm of N.
        let logN: Int
        let r: Int
        let p: Int

        static let maximumMemory = 2 << 30
        /// The maximum product of the memory in bytes and p: about half a minute.
        static let maximumWork = 8 << 30

        /// The size of the array V, which takes most of the memory, in bytes.
        var memory: Int { 128 * r << logN }

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

    func derive(_ password: Span<UInt8>, into bytes: inout MutableSpan<UInt8>) throws {
        try HashFault.rejectTrailingNUL(in: password, format: "scrypt")
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
    }
}

/// passlib's format of scrypt, such as `$scrypt$ln=17,r=8,p=1$salt$hash`, with Base64 without padding.
enum ScryptFormat: PasswordFormat {
    static func read(_ stored: String, options: FormatOptions) throws(BadHash) -> (any PasswordAlgorithm)? {
        guard stored.hasPrefix("$scrypt$") else { return nil }
        let fields = try HashFields(stored.dropFirst(8), of: "scrypt", counts: 3...3)
        let numbers = try fields.numbers(fields[0], named: [("ln", 1...24), ("r", 1...256), ("p", 1...256)])
        return Scrypt(
            parameters: try parameters(fields, logN: numbers[0], r: numbers[1], p: numbers[2]),
            salt: try fields.bytes(fields[1], named: "salt", base64: .unpadded, in: 1...128),
            storedHash: try key(fields, of: fields[2], base64: .unpadded)
        )
    }

    /// Reads a key of 32 or 64 bytes; other lengths are rejected.
    ///
    /// A short key of scrypt is the beginning of a longer key, so the password would also match a truncated text.
    static func key(_ fields: HashFields, of text: some StringProtocol, base64: Base64) throws(BadHash) -> [UInt8] {
        let key = try fields.bytes(text, named: "hash", base64: base64, in: 32...64)
        guard key.count == 32 || key.count == 64 else { throw fields.fault("the hash has neither 32 nor 64 bytes") }
        return key
    }

    static func parameters(_ fields: HashFields, logN: Int, r: Int, p: Int) throws(BadHash) -> Scrypt.Parameters {
        guard let parameters = Scrypt.Parameters(logN: logN, r: r, p: p) else {
            throw fields.fault("the cost is out of bounds")
        }
        return parameters
    }

    /// Reads parameters with N itself, and not its logarithm.
    static func parameters(
        _ fields: HashFields,
        n: Substring,
        r: Substring,
        p: Substring
    ) throws(BadHash) -> Scrypt.Parameters {
        let n = try fields.number(n, named: "N", in: 2...(1 << 24))
        guard n.nonzeroBitCount == 1 else { throw fields.fault("N is not a power of two") }
        let r = try fields.number(r, named: "r", in: 1...256)
        let p = try fields.number(p, named: "p", in: 1...256)
        return try parameters(fields, logN: n.trailingZeroBitCount, r: r, p: p)
    }
}

extension Scrypt: StorableKeyDerivation {
    func text(_ key: [UInt8]) -> String {
        "$scrypt$ln=\(parameters.logN),r=\(parameters.r),p=\(parameters.p)"
            + "$\(Base64.unpadded.encode(salt.span))$\(Base64.unpadded.encode(key.span))"
    }
}
