// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmKit

/// How new passwords are hashed.
public struct HashPolicy: Sendable, Hashable {
    /// What passwords are hashed with, and at what cost.
    public enum Scheme: Sendable, Hashable {
        /// Argon2id, RFC 9106: memory in KiB, passes over it, lanes.
        case argon2id(memory: Int, passes: Int, lanes: Int)
    }

    /// OWASP's least for Argon2id: 19 MiB, 2 passes, 1 lane; about 25 ms of one core.
    public static let standard = HashPolicy(.argon2id(memory: 19456, passes: 2, lanes: 1))

    /// What passwords are hashed with.
    public let scheme: Scheme

    /// A policy.
    ///
    /// - Parameter scheme: What passwords are hashed with.
    public init(_ scheme: Scheme) {
        self.scheme = scheme
    }

    /// Hashes a new password with a new salt.
    ///
    /// - Parameter password: The password.
    /// - Returns: The text to store.
    /// - Throws: ``HashFault``.
    public func hash(_ password: Secret) throws(HashFault) -> String {
        throw HashFault(.failed, "not there yet")
    }

    /// Whether a stored hash is weaker than this policy wants or of another scheme, so that it should be made anew.
    ///
    /// - Parameter hash: The stored hash.
    /// - Returns: Whether it should.
    public func wantsRehash(of hash: any PasswordHash) -> Bool {
        false
    }

    /// A hash of this policy's cost that no known password has.
    ///
    /// - Returns: The decoy.
    /// - Throws: ``HashFault``.
    public func decoy() throws(HashFault) -> any PasswordHash {
        throw HashFault(.failed, "not there yet")
    }
}
