// SPDX-License-Identifier: Apache-2.0

/// A module that checks a name and a password, from the user or from an earlier module of its stack.
///
/// A conforming type implements ``authenticate(_:password:)``. If its password may be shared, it also lists
/// ``PropertySchema/firstPass`` in its ``LoginModule/options``, as the default does, and creates its ``firstPass`` from the
/// options.
public protocol PasswordLoginModule<RealmType>: LoginModule {
    /// The options by which this module shares a password; by default it shares none.
    ///
    /// A configuration that sets one of these options for a module that shares none does not load.
    var firstPass: FirstPass { get }

    /// Checks whether a password is the user's password, and commits if it is.
    ///
    /// The password may be empty; most realms must refuse an empty password.
    ///
    /// - Returns: The result of ``LoginAttempt/commit(groups:attributes:)``, or another verdict.
    /// - Throws: ``LoginFault`` if the login could not be decided.
    func authenticate(_ attempt: LoginAttempt, password: Secret) async throws(LoginFault) -> Verdict
}

extension PasswordLoginModule {
    /// Shares no password.
    public var firstPass: FirstPass { .unshared }

    /// The options by which modules share a password.
    public static var options: PropertySchema { .firstPass }

    /// Gets the password as ``firstPass`` requires and checks it.
    public func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
        try await firstPass.authenticate(self, attempt: attempt)
    }

    /// Returns `done` if this module succeeded; removes the shared password if `clearPass` is set.
    public func commit(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion {
        firstPass.cleanUp(attempt)
        return attempt.succeeded ? .done : .ignored
    }

    /// Returns `done` if this module succeeded; removes the shared password if `clearPass` is set.
    public func abort(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion {
        firstPass.cleanUp(attempt)
        return attempt.succeeded ? .done : .ignored
    }
}
