// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// One step of authentication, combined with others in a stack of login.conf.
///
/// A module is created once for every place it has in a configuration, is immutable, and serves any number of logins at
/// the same time on any thread: all state of one login is in its ``LoginAttempt``. A module must implement
/// ``authenticateUser(_:)``; the defaults of the other three suit nearly all modules.
///
/// If a module throws, never returns, or returns a success that it did not commit, it has failed under its control
/// flag. A module that a login does not reach is not called to commit, abort or log out either.
///
/// A module that never waits should conform to ``ImmediateLoginModule``. The contract is tested by
/// `LoginModuleConformance` in RealmTesting.
///
/// Source: `javax.security.auth.spi.LoginModule`; `AppservPasswordLoginModule.authenticateUser` of GlassFish.
public protocol LoginModule<RealmType>: Sendable {
    /// The type of realm that this module works with; `any Realm` if it works with all.
    associatedtype RealmType

    /// The names of this module in login.conf, the preferred one first. The default is the name of the type.
    static var moduleNames: [String] { get }

    /// The options of this module; none by default. A configuration that sets any other option does not load.
    static var options: PropertySchema { get }

    /// Creates the module for one place in the stack of one realm.
    ///
    /// - Parameters:
    ///   - realm: The realm of the stack. For a realm of another type the configuration does not load.
    ///   - options: The options after the module's control flag, checked against ``options``.
    /// - Throws: ``BadModule`` if the options contradict each other or cannot be used.
    init(realm: RealmType, options: ModuleOptions) throws(BadModule)

    /// Decides about one login; a success commits principals and groups.
    ///
    /// - Parameter attempt: The current login.
    /// - Returns: The result of ``LoginAttempt/commit(groups:)``, or ``Verdict/ignored``, or ``Verdict/failed(_:)``.
    /// - Throws: ``LoginFault`` if the login could not be decided.
    func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict

    /// Completes a login that the stack as a whole has accepted.
    ///
    /// It is called for every module that the login reached, also for one that failed or ignored it. The default
    /// returns `done` if this module succeeded. The result counts under the control flag once more: if a required
    /// module throws here, the login fails.
    ///
    /// - Parameter attempt: The current login; ``LoginAttempt/add(_:)`` adds principals to it.
    /// - Returns: `done`; `ignored` if there was nothing to complete.
    /// - Throws: ``LoginFault`` if the login cannot be completed.
    func commit(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion

    /// Cleans up after a login that the stack as a whole has refused.
    ///
    /// It is called for every module that the login reached.
    ///
    /// - Parameter attempt: The current login.
    /// - Returns: `done`; `ignored` if there was nothing to clean up.
    /// - Throws: ``LoginFault``, which is reported and changes nothing.
    func abort(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion

    /// Ends a login, and with it what ``commit(_:)`` began. The subject loses the principals of this module unless it
    /// throws.
    ///
    /// - Parameter attempt: The login to end.
    /// - Returns: `done`; `ignored` if there was nothing to end.
    /// - Throws: ``LoginFault`` if it could not be ended.
    func logout(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion
}

extension LoginModule {
    /// The name of the type.
    public static var moduleNames: [String] { ["\(Self.self)"] }

    /// No options.
    public static var options: PropertySchema { [] }

    /// Returns `done` if this module succeeded.
    public func commit(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion {
        attempt.succeeded ? .done : .ignored
    }

    /// Returns `done` if this module succeeded.
    public func abort(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion {
        attempt.succeeded ? .done : .ignored
    }

    /// Returns `done`.
    public func logout(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion { .done }
}
