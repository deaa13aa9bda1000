// SPDX-License-Identifier: Apache-2.0

/// A keyed checksum of the secrets that a client presented; it shows only whether two guesses were the same.
///
/// The key is generated at the start of the process. Fingerprints of two processes cannot be compared, and a password
/// cannot be tested against a fingerprint of another process.
public struct PasswordFingerprint: Sendable, Hashable {
    // The sum of the hashes of all secrets, so that the order of the secrets does not matter.
    private var sum = 0

    /// Creates the fingerprint of secrets.
    ///
    /// - Parameter secrets: The secrets, in any order.
    public init(_ secrets: [Secret]) {
        for secret in secrets { add(secret) }
    }

    mutating func add(_ secret: Secret) {
        // SipHash with the key of the process.
        var hasher = Hasher()
        secret.withBytes { bytes in
            hasher.combine(bytes.count)
            for index in bytes.indices { hasher.combine(bytes[index]) }
        }
        sum &+= hasher.finalize()
    }
}
