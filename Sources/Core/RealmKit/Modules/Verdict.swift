// SPDX-License-Identifier: Apache-2.0

/// The decision of one module about a login: success, ignored or failed.
///
/// Source: `LoginModule.login` of JAAS, which returns true or false or throws; PAM_SUCCESS, PAM_IGNORE and the other
/// codes.
public enum Verdict: Sendable {
    /// The module accepts the user. Only ``LoginAttempt/commit(groups:attributes:)`` and its variants can create the required
    /// proof.
    case success(Success)
    /// The module does not apply to this login. If all modules ignore a login, it is refused.
    case ignored
    /// The module refuses the user.
    case failed(LoginFailure)

    /// Proof that a module has committed principals for the current login.
    ///
    /// It has no public initializer. A proof from another login, or from an earlier call, counts as a failure.
    public struct Success: Sendable {
        let login: any AnyObject & Sendable
        /// The number of the call of the module.
        let round: Int
        /// The index of the ``Contribution`` that the module committed, among all contributions of the login.
        let number: Int
    }
}

/// The result of a commit, an abort or a logout of one module.
///
/// Source: the boolean that `commit`, `abort` and `logout` of a JAAS LoginModule return.
public enum Completion: Sendable, Hashable {
    /// The module completed the call; JAAS true.
    case done
    /// The module had nothing to do; JAAS false.
    case ignored
}
