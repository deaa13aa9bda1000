// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Bytes
internal import OpenSSLKit

/// bcrypt of a digest of the password, as Django and passlib compute it: the password may have more than 72 bytes.
struct DigestedBcrypt: PasswordAlgorithm {
    /// The digest of the password that bcrypt hashes.
    enum Preparation: String, Sendable {
        /// Django: the 64 hexadecimal digits of the SHA-256.
        case hexadecimal = "sha256-hex"
        /// passlib up to 1.7.2: the SHA-256 in Base64.
        case base64 = "sha256-base64"
        /// passlib since 1.7.3: the HMAC-SHA-256 under the text of the salt, in Base64.
        case keyed = "hmac-sha256-base64"
    }

    let preparation: Preparation
    let bcrypt: Crypt
    /// The 22 characters of the salt.
    let salt: [UInt8]

    var cost: HashCost {
        HashCost(format: "bcrypt-\(preparation.rawValue)", parameters: bcrypt.parameters, memory: bcrypt.memory)
    }

    func isDerived(from password: Span<UInt8>) throws(HashFault) -> Bool {
        var digest = WipedBytes(count: HashFunction.sha256.byteCount)
        var text = WipedBytes(count: preparation == .hexadecimal ? 64 : 44)
        do {
            try prepare(password, into: &digest)
        } catch {
            throw HashFault(error)
        }
        digest.withBytes { digest in
            text.withMutableBytes { text in
                switch preparation {
                case .hexadecimal: Hexadecimal.encode(digest, into: &text)
                case .base64, .keyed: Base64.padded.encode(digest, into: &text)
                }
            }
        }
        return try text.withBytes { text throws(HashFault) in try bcrypt.isDerived(from: text) }
    }

    private func prepare(_ password: Span<UInt8>, into digest: inout WipedBytes) throws(OpenSSLError) {
        var hashing = try Hashing(.sha256)
        switch preparation {
        case .hexadecimal, .base64:
            try hashing.append(password)
            try digest.withMutableBytes { digest throws(OpenSSLError) in try hashing.finish(into: &digest) }
        case .keyed:
            // HMAC as in RFC 2104; the key is shorter than a block, and not secret.
            let block = salt + [UInt8](repeating: 0, count: 64 - salt.count)
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
