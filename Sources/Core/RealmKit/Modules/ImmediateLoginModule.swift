// SPDX-License-Identifier: Apache-2.0

/// A module that decides without waiting: it uses no file, no network and no conversation.
///
/// The engine calls it directly, without a deadline, on the thread of the login, which may be the server's event loop.
/// A stack of such modules takes a fraction of a microsecond. The compiler rejects an `await` in these methods. They
/// must also not block, and not compute for long.
public protocol ImmediateLoginModule<RealmType>: LoginModule {
    /// Decides about a login; see ``LoginModule/authenticateUser(_:)``.
    ///
    /// - Parameter attempt: The current login.
    /// - Returns: The result of ``LoginAttempt/commit(groups:attributes:)``, or another verdict.
    /// - Throws: ``LoginFault`` if the login could not be decided.
    func authenticateUser(_ attempt: LoginAttempt) throws(LoginFault) -> Verdict

    /// Completes a login; see ``LoginModule/commit(_:)``.
    ///
    /// - Parameter attempt: The current login.
    /// - Returns: `done`; `ignored` if there was nothing to complete.
    /// - Throws: ``LoginFault`` if the login cannot be completed.
    func commit(_ attempt: LoginAttempt) throws(LoginFault) -> Completion

    /// Cleans up after a refused login; see ``LoginModule/abort(_:)``.
    ///
    /// - Parameter attempt: The current login.
    /// - Returns: `done`; `ignored` if there was nothing to clean up.
    /// - Throws: ``LoginFault`` if the cleanup failed. It is reported, and the login stays refused.
    func abort(_ attempt: LoginAttempt) throws(LoginFault) -> Completion

    /// Ends a login; see ``LoginModule/logout(_:)``.
    ///
    /// - Parameter attempt: The login to end.
    /// - Returns: `done`; `ignored` if there was nothing to end.
    /// - Throws: ``LoginFault`` if it could not be ended.
    func logout(_ attempt: LoginAttempt) throws(LoginFault) -> Completion
}

extension ImmediateLoginModule {
    /// Returns `done` if this module succeeded.
    public func commit(_ attempt: LoginAttempt) throws(LoginFault) -> Completion {
        attempt.succeeded ? .done : .ignored
    }

    /// Returns `done` if this module succeeded.
    public func abort(_ attempt: LoginAttempt) throws(LoginFault) -> Completion {
        attempt.succeeded ? .done : .ignored
    }

    /// Returns `done`.
    public func logout(_ attempt: LoginAttempt) throws(LoginFault) -> Completion { .done }
}

/// A login module that never blocks its thread: it only suspends its task to wait.
///
/// The engine starts its calls on the thread of the login, and continues them on the worker thread that has resumed them,
/// which saves changes of threads. Until the module suspends for the first time, its deadline is not enforced, and a worker
/// thread makes no other call before the module suspends again. A module that may block, for example in a call of a C
/// library, or that computes for long, must not conform.
package protocol NonblockingLoginModule: LoginModule {}
