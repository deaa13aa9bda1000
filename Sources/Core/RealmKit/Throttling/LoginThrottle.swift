// SPDX-License-Identifier: Apache-2.0

/// A limit for failed logins: it reserves an attempt before a stack is evaluated, and receives the result.
///
/// An ``Authenticator`` with a throttle passes every login through it. The contract of an implementation:
///
/// - A reserved attempt counts as a failure until it is settled. Whether a login may be granted is decided at the
///   reservation. A client therefore gets no more guesses in parallel than in sequence.
/// - An attempt for several accounts is reserved for all of them in one step; while it waits, it holds none of them.
///   Two attempts therefore cannot wait for each other.
/// - It never prevents the evaluation of a login. An attempt that cannot succeed costs the same work as any other
///   attempt.
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
    /// Returns whether the login may be granted in the realm of an account.
    ///
    /// If not, the stack is still evaluated, and the login is refused as locked.
    ///
    /// - Parameter account: One of the reserved accounts.
    /// - Returns: True if the login may be granted.
    func mayGrant(_ account: Account) -> Bool

    /// Tells the throttle that the login waits for a person, who may take any time or never answer.
    ///
    /// It may be called several times, also after the attempt is settled, and must not block. Whatever a throttle does
    /// must not depend on what the modules have returned so far. The default does nothing.
    func waitsForUser()

    /// Records the result of the attempt, then waits for the delay of the response.
    ///
    /// It is called once. The wait ends at once if the task is cancelled.
    ///
    /// - Parameter attempts: The result in each realm that was used, in order. Only the last result can be a success.
    func settle(_ attempts: [RealmAttempt]) async
}

extension LoginReservation {
    /// Does nothing.
    public func waitsForUser() {}
}
