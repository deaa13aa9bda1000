// SPDX-License-Identifier: Apache-2.0

/// A module that decides without waiting: it uses no file, no network and no conversation.
///
/// The engine calls it directly, without a deadline, on the thread of the login, which may be the server's event loop.
/// A stack of such modules takes a fraction of a microsecond. The compiler rejects an `await` in these methods, which
/// must neither block nor compute for long.
public protocol ImmediateLoginModule<RealmType>: LoginModule {
    /// Decides about a login, as ``LoginModule/authenticateUser(_:)`` does.
    func authenticateUser(_ attempt: LoginAttempt) throws(LoginFault) -> Verdict

    /// Completes a login, as ``LoginModule/commit(_:)`` does.
    func commit(_ attempt: LoginAttempt) throws(LoginFault) -> Completion

    /// Cleans up after a refused login, as ``LoginModule/abort(_:)`` does.
    func abort(_ attempt: LoginAttempt) throws(LoginFault) -> Completion

    /// Ends a login, as ``LoginModule/logout(_:)`` does.
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

/// A login module that never blocks its thread, for example in a call of a C library, and never computes for long.
///
/// Its calls start on the thread of the login and continue on the worker thread that has resumed them, which saves changes
/// of threads. Until it suspends, its deadline is not enforced, and that worker thread makes no other call.
package protocol NonblockingLoginModule: LoginModule {}
