// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A keyed checksum of the secrets of a guess, which shows only whether two guesses were the same.
///
/// The key is generated at the start of the process: marks of two processes cannot be compared, and a password cannot
/// be tested against a mark in another process.
public struct PasswordFingerprint: Sendable, Hashable {
    // The sum over the secrets: modules may request two at the same time, in any order.
    private var sum = 0

    /// Creates the mark of some secrets.
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
            for place in bytes.indices { hasher.combine(bytes[place]) }
        }
        sum &+= hasher.finalize()
    }
}
