// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// One way of checking who somebody is, to be stacked with others in login.conf.
///
/// A module is made once for every place it has in a configuration, is immutable, and serves any number of logins at the
/// same time: whatever belongs to one login lives in its ``LoginAttempt``. All a module must do is
/// ``authenticateUser(_:)``; the other three have defaults that are right for nearly all.
///
/// If a module throws, never answers or returns a success that it did not commit, that is a failure of this module under
/// its control flag. A module that has not been reached in a login is not asked to commit, abort or log out either.
///
/// A module that never has to wait should conform to ``ImmediateLoginModule``. The contract is tested by
/// `LoginModuleConformance` in RealmTesting.
///
/// Source: `javax.security.auth.spi.LoginModule`; `AppservPasswordLoginModule.authenticateUser` of GlassFish.
public protocol LoginModule<RealmType>: Sendable {
    /// The realm this module works with; `any Realm` when it works with all.
    associatedtype RealmType

    /// The names that stand for this module in login.conf, the preferred one first. The default is the type's own name.
    static var moduleNames: [String] { get }

    /// The options this module reads. The default is none. Any other option is an error when the configuration is loaded.
    static var options: PropertySchema { get }

    /// Makes the module for one place in a stack of one realm.
    ///
    /// - Parameters:
    ///   - realm: The realm whose stack this is; a realm of another type is refused before this is called.
    ///   - options: The options written behind the module, checked against ``options``.
    /// - Throws: ``BadModule`` when the options do not make sense together.
    init(realm: RealmType, options: ModuleOptions) throws(BadModule)

    /// Decides about one login, and commits principals and groups if the answer is yes.
    ///
    /// - Parameter attempt: The login at hand: who, what the stack shares, whom to ask.
    /// - Returns: What ``LoginAttempt/commit(groups:)`` gave, or ``Verdict/ignored``, or ``Verdict/failed(_:)``.
    /// - Throws: ``LoginFault`` when the question could not be decided.
    func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict

    /// Completes a login that the stack as a whole has accepted.
    ///
    /// Called for every module reached, also for one that failed or ignored the login. The default is done if this module
    /// succeeded. What it answers counts under its flag once more: a required module that throws here spoils the login.
    ///
    /// - Parameter attempt: The login at hand; ``LoginAttempt/add(_:)`` adds principals to it.
    /// - Returns: Whether there was anything to complete.
    /// - Throws: ``LoginFault`` when it cannot be completed.
    func commit(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion

    /// Forgets about a login that the stack as a whole has refused.
    ///
    /// - Parameter attempt: The login at hand.
    /// - Returns: Whether there was anything to forget.
    /// - Throws: ``LoginFault``, which is reported and changes nothing.
    func abort(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion

    /// Ends what ``commit(_:)`` began. What this module gave to the subject is taken back unless it throws.
    ///
    /// - Parameter attempt: An attempt that knows who is leaving.
    /// - Returns: Whether there was anything to end.
    /// - Throws: ``LoginFault`` when it could not be ended.
    func logout(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion
}

extension LoginModule {
    /// The type's own name.
    public static var moduleNames: [String] { ["\(Self.self)"] }

    /// No options.
    public static var options: PropertySchema { [] }

    /// Done if this module succeeded.
    public func commit(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion {
        attempt.succeeded ? .done : .ignored
    }

    /// Done if this module succeeded.
    public func abort(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion {
        attempt.succeeded ? .done : .ignored
    }

    /// Done.
    public func logout(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion { .done }
}

/// A module that decides without waiting for anything: no file, no network, no person.
///
/// The engine calls it directly, without a deadline, on whatever thread the login is on, the server's event loop
/// included; a stack of such modules costs a fraction of a microsecond. The compiler sees to it that nothing here awaits.
/// The contract is that nothing blocks or computes for long either.
public protocol ImmediateLoginModule<RealmType>: LoginModule {
    /// Decides about one login at once; see ``LoginModule/authenticateUser(_:)``.
    ///
    /// - Parameter attempt: The login at hand.
    /// - Returns: What ``LoginAttempt/commit(groups:)`` gave, or another verdict.
    /// - Throws: ``LoginFault`` when the question could not be decided.
    func authenticateUser(_ attempt: LoginAttempt) throws(LoginFault) -> Verdict

    /// Completes a login at once; see ``LoginModule/commit(_:)``.
    ///
    /// - Parameter attempt: The login at hand.
    /// - Returns: Whether there was anything to complete.
    /// - Throws: ``LoginFault`` when it cannot be completed.
    func commit(_ attempt: LoginAttempt) throws(LoginFault) -> Completion

    /// Forgets about a login at once; see ``LoginModule/abort(_:)``.
    ///
    /// - Parameter attempt: The login at hand.
    /// - Returns: Whether there was anything to forget.
    /// - Throws: ``LoginFault``, which is reported and changes nothing.
    func abort(_ attempt: LoginAttempt) throws(LoginFault) -> Completion

    /// Ends a login at once; see ``LoginModule/logout(_:)``.
    ///
    /// - Parameter attempt: An attempt that knows who is leaving.
    /// - Returns: Whether there was anything to end.
    /// - Throws: ``LoginFault`` when it could not be ended.
    func logout(_ attempt: LoginAttempt) throws(LoginFault) -> Completion
}

extension ImmediateLoginModule {
    /// Done if this module succeeded.
    public func commit(_ attempt: LoginAttempt) throws(LoginFault) -> Completion {
        attempt.succeeded ? .done : .ignored
    }

    /// Done if this module succeeded.
    public func abort(_ attempt: LoginAttempt) throws(LoginFault) -> Completion {
        attempt.succeeded ? .done : .ignored
    }

    /// Done.
    public func logout(_ attempt: LoginAttempt) throws(LoginFault) -> Completion { .done }
}

/// A module's options do not make sense.
public struct BadModule: SettingsFault, Hashable {
    /// The option at fault, if it is one.
    public let setting: String?
    /// What is wrong, for the administrator.
    public let message: String

    /// A fault with a message, and the option it is about.
    ///
    /// - Parameters:
    ///   - message: What is wrong, for the administrator.
    ///   - setting: The option at fault, if it is one.
    public init(_ message: String, setting: String? = nil) {
        self.message = message
        self.setting = setting
    }
}
