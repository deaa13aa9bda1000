// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A limit for failed logins: it reserves an attempt before a stack is evaluated, and receives the result.
///
/// An ``Authenticator`` with a throttle passes every login through it. The contract of an implementation:
///
/// - It decides when it reserves, not when it settles: an attempt that is not settled counts as a failure, so that
///   parallel guesses get no more chances than guesses in sequence.
/// - An attempt for several accounts is one attempt: it gets a place in each of them in one step, or waits for all, so
///   that two attempts cannot wait for each other.
/// - It never keeps a login from being evaluated. An attempt that cannot succeed costs the same work as any other.
/// - Its calls return even if the task is cancelled.
/// - It may be used from any thread.
public protocol LoginThrottle: Sendable {
    /// Reserves an attempt, after a wait if too many are in progress.
    ///
    /// - Parameters:
    ///   - accounts: The accounts, one for each realm that may be used, at least one. The users need not exist.
    ///   - username: The name as it was typed.
    ///   - peer: The network address of the client, if the login came over a network.
    /// - Returns: The reservation.
    func reserve(_ accounts: [Account], by username: Username, from peer: String?) async -> any LoginReservation
}

/// An attempt that a ``LoginThrottle`` has reserved.
public protocol LoginReservation: Sendable {
    /// Returns whether the login may be granted in the realm of an account. If not, the stack is evaluated all the same
    /// and refuses as locked.
    ///
    /// - Parameter account: One of the reserved accounts.
    /// - Returns: True if it may.
    func mayGrant(_ account: Account) -> Bool

    /// Records the result of the attempt, then waits for the delay of the response.
    ///
    /// It is called once. The wait ends at once if the task is cancelled.
    ///
    /// - Parameter attempts: The result in each realm that was used, in order; if one has accepted, it is the last.
    func settle(_ attempts: [RealmAttempt]) async
}
