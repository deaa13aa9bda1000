// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import OpenSSLKit

/// bcrypt of a digest of the password, as Django, passlib and WordPress compute it for passwords of more than 72 bytes.
struct PrehashedBcrypt: PasswordAlgorithm {
    enum Prehash: String, Sendable {
        /// The 64 hexadecimal digits of the SHA-256, as in Django.
        case hexadecimal = "sha256-hex"
        /// The SHA-256 in Base64, as in passlib up to 1.7.2.
        case base64 = "sha256-base64"
        /// The HMAC-SHA-256 in Base64 with the text of the salt as the key, as in passlib since 1.7.3.
        case keyed = "hmac-sha256-base64"
        /// The HMAC-SHA-384 in Base64 with the key `wp-sha384`, as in WordPress since 6.8.
        case wordPress = "hmac-sha384-base64"

        var function: HashFunction { self == .wordPress ? .sha384 : .sha256 }
    }

    let prehash: Prehash
    let bcrypt: Crypt
    /// The 22 characters of the salt.
    let salt: [UInt8]

    var cost: HashCost {
        HashCost(
            format: "bcrypt-\(prehash.rawValue)",
            parameters: bcrypt.parameters,
            memory: bcrypt.memory,
            time: bcrypt.time
        )
    }

    func isDerived(from password: Span<UInt8>) throws -> Bool {
        let count = prehash.function.byteCount
        var digest = WipedBytes(count: count)
        var text = WipedBytes(count: prehash == .hexadecimal ? 2 * count : (count + 2) / 3 * 4)
        try computePrehash(password, into: &digest)
        digest.withBytes { digest in
            text.withMutableBytes { text in
                switch prehash {
                case .hexadecimal: Hexadecimal.encode(digest, into: &text)
                case .base64, .keyed, .wordPress: Base64.padded.encode(digest, into: &text)
                }
            }
        }
        return try text.withBytes { try bcrypt.isDerived(from: $0) }
    }

    private func computePrehash(_ password: Span<UInt8>, into digest: inout WipedBytes) throws(OpenSSLError) {
        var hashing = try Hashing(prehash.function)
        switch prehash {
        case .hexadecimal, .base64:
            try hashing.append(password)
            try digest.withMutableBytes { digest throws(OpenSSLError) in try hashing.finish(into: &digest) }
        case .keyed, .wordPress:
            // This is HMAC (RFC 2104). The key is not secret, and is shorter than a block.
            let key = prehash == .wordPress ? Array("wp-sha384".utf8) : salt
            let block = key + [UInt8](repeating: 0, count: (prehash == .wordPress ? 128 : 64) - key.count)
            let (inner, outer) = (block.map { $0 ^ 0x36 }, block.map { $0 ^ 0x5c })
            try digest.withMutableBytes { digest throws(OpenSSLError) in
                try hashing.append(inner.span)
                try hashing.append(password)
                try hashing.finish(into: &digest)
                try hashing.append(outer.span)
                try hashing.append(digest.span)
                try hashing.finish(into: &digest)
            }
        }
    }
}

/// passlib's bcrypt of a digest, `$bcrypt-sha256$v=2,t=2b,r=12$salt$hash` and the older `$bcrypt-sha256$2b,12$salt$hash`,
/// and that of WordPress since 6.8, `$wp$2y$10$salthash`.
enum PrehashedBcryptFormat: PasswordFormat {
    static func read(_ stored: String, options: FormatOptions) throws(BadHash) -> (any PasswordAlgorithm)? {
        if stored.hasPrefix("$wp$2") { return try algorithm(String(stored.dropFirst(3)), prehash: .wordPress) }
        guard stored.hasPrefix("$bcrypt-sha256$") else { return nil }
        let fields = try HashFields(stored.dropFirst(15), of: "bcrypt-sha256", counts: 3...3)
        let parameters = fields[0].split(separator: ",", omittingEmptySubsequences: false)
        let isKeyed = parameters.count == 3
        let (kind, cost): (Substring, Substring)
        switch parameters.count {
        case 3:
            guard parameters[0] == "v=2", parameters[1].hasPrefix("t="), parameters[2].hasPrefix("r=") else {
                throw fields.fault("the parameters are not v=2,t=,r=")
            }
            (kind, cost) = (parameters[1].dropFirst(2), parameters[2].dropFirst(2))
        case 2: (kind, cost) = (parameters[0], parameters[1])
        case _: throw fields.fault("the parameters cannot be read")
        }
        guard ["2a", "2b", "2y"].contains(kind) else { throw fields.fault("the kind is not 2a, 2b or 2y") }
        let rounds = try fields.number(cost, named: "the cost", in: CostBounds.bcrypt)
        guard fields[1].utf8.count == 22 else { throw fields.fault("the salt does not have 22 characters") }
        let bcrypt = "$\(kind)$\(rounds < 10 ? "0" : "")\(rounds)$\(fields[1])\(fields[2])"
        return try algorithm(bcrypt, prehash: isKeyed ? .keyed : .base64)
    }

    static func algorithm(_ bcrypt: String, prehash: PrehashedBcrypt.Prehash) throws(BadHash) -> PrehashedBcrypt {
        guard bcrypt.hasPrefix("$2"), var crypt = try CryptFormat.crypt(bcrypt) else {
            throw BadHash("bcrypt-sha256: not a bcrypt hash")
        }
        crypt.scheme = nil
        return PrehashedBcrypt(prehash: prehash, bcrypt: crypt, salt: Array(bcrypt.utf8.dropFirst(7).prefix(22)))
    }
}
