// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import OpenSSLKit

/// bcrypt of a digest of the password, as Django, passlib and WordPress compute it.
///
/// Because of the digest, the password may have more than 72 bytes.
struct PrehashedBcrypt: PasswordAlgorithm {
    /// The digest of the password that bcrypt hashes.
    enum Prehash: String, Sendable {
        /// The 64 hexadecimal digits of the SHA-256, as in Django.
        case hexadecimal = "sha256-hex"
        /// The SHA-256 in Base64, as in passlib up to 1.7.2.
        case base64 = "sha256-base64"
        /// The HMAC-SHA-256 in Base64, as in passlib since 1.7.3.
        ///
        /// The key is the text of the salt.
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

    func isDerived(from password: Span<UInt8>) throws(HashFault) -> Bool {
        let count = prehash.function.byteCount
        var digest = WipedBytes(count: count)
        var text = WipedBytes(count: prehash == .hexadecimal ? 2 * count : (count + 2) / 3 * 4)
        do {
            try computePrehash(password, into: &digest)
        } catch {
            throw HashFault(error)
        }
        digest.withBytes { digest in
            text.withMutableBytes { text in
                switch prehash {
                case .hexadecimal: Hexadecimal.encode(digest, into: &text)
                case .base64, .keyed, .wordPress: Base64.padded.encode(digest, into: &text)
                }
            }
        }
        return try text.withBytes { text throws(HashFault) in try bcrypt.isDerived(from: text) }
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
