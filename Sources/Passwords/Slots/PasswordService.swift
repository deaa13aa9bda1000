// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmKit

/// What a module with stored passwords asks: whether this is the password, off its own thread and at a cost that tells
/// nothing.
///
/// The program lends it to realms as one of their ``RealmServices``.
public final class PasswordService: Sendable {
    /// How new passwords are hashed.
    public let policy: HashPolicy

    /// - Parameter policy: How new passwords are hashed.
    public init(policy: HashPolicy) {
        self.policy = policy
    }

    /// Whether a password is the one that is stored.
    ///
    /// Whatever `stored` is, one check of every cost in `costs` is computed, so that the time says nothing about who there
    /// is and how their password is kept.
    ///
    /// - Parameters:
    ///   - password: What was presented.
    ///   - stored: What is stored of the user; nil if there is no such user, or none that may sign in.
    ///   - costs: One hash or decoy of every cost that users of the realm have.
    ///   - attempt: The login at hand: whose turn it is, and where numbers are noted.
    /// - Returns: Whether it is; never true without a `stored`.
    /// - Throws: ``LoginFault``: `unavailable` when too many are waiting or waited too long, `unusableCredential` for a
    ///   password the format cannot take.
    public func check(
        _ password: Secret,
        against stored: (any PasswordHash)?,
        costs: [any PasswordHash],
        _ attempt: LoginAttempt
    ) async throws(LoginFault) -> Bool {
        throw .internalError("not there yet")
    }

    /// Hashes a new password by the policy, in its turn.
    ///
    /// - Parameter password: The new password.
    /// - Returns: The text to store.
    /// - Throws: ``LoginFault``: as from ``check(_:against:costs:_:)``.
    public func hash(_ password: Secret) async throws(LoginFault) -> String {
        throw .internalError("not there yet")
    }
}
