// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// What a module says of a login: yes, "ask the others", or no.
///
/// Source: `LoginModule.login` of JAAS, which answers true, false or an exception; PAM_SUCCESS, PAM_IGNORE and the rest.
public enum Verdict: Sendable {
    /// Yes. Only ``LoginAttempt/commit(groups:)`` and its siblings can make the token that is needed here.
    case success(Success)
    /// This module has nothing to say about this login. A stack in which all say so refuses.
    case ignored
    /// No, and why.
    case failed(LoginFailure)

    /// Proof that a module has committed principals for the login at hand.
    ///
    /// There is no public way to make one, and one made for another login or another module's turn counts as a failure.
    public struct Success: Sendable {
        let record: LoginRecord
        let round: Int
        /// Which of the record's contributions it came with.
        let number: Int
    }
}

/// What a module says when a login is committed, aborted or undone.
///
/// Source: the boolean that `commit`, `abort` and `logout` of a JAAS LoginModule return.
public enum Completion: Sendable, Hashable {
    /// The module did what was asked; JAAS true.
    case done
    /// There was nothing for this module to do; JAAS false.
    case ignored
}
