// SPDX-License-Identifier: Apache-2.0

/// One step of authentication; a stack of login.conf combines several modules.
///
/// A module is created for one place in the stack of one realm when the configuration is loaded. It is immutable, and
/// serves any number of concurrent logins on any thread. All state of one login is in its ``LoginAttempt``. A module
/// must implement ``authenticateUser(_:)``; the defaults of the other three methods suit nearly all modules.
///
/// If a module throws, never returns, or returns a success that it did not commit, it has failed under its control
/// flag. If the login phase does not reach a module, the other methods of the module are not called either.
///
/// A module that never waits should conform to ``ImmediateLoginModule``. The contract is tested by
/// `LoginModuleConformance` in RealmTesting.
///
/// Source: `javax.security.auth.spi.LoginModule`; `AppservPasswordLoginModule.authenticateUser` of GlassFish.
public protocol LoginModule<RealmType>: Sendable {
    /// The type of realm that this module works with; `any Realm` if it works with every type.
    associatedtype RealmType

    /// The names of this module in login.conf, the preferred name first. The default is the name of the type.
    static var moduleNames: [String] { get }

    /// The options of this module; no options by default. A configuration that sets any other option does not load.
    static var options: PropertySchema { get }

    /// Creates the module for one place in the stack of one realm, with the options after the module's control flag,
    /// which have been checked against ``options``.
    ///
    /// If the realm of the stack has another type than ``RealmType``, the configuration does not load.
    ///
    /// - Throws: ``BadModule`` if the options contradict each other or cannot be used.
    init(realm: RealmType, options: ModuleOptions) throws(BadModule)

    /// Decides about one login; a success commits principals and groups.
    ///
    /// - Returns: The result of ``LoginAttempt/commit(groups:attributes:)``, or ``Verdict/ignored``, or ``Verdict/failed(_:)``.
    /// - Throws: ``LoginFault`` if the login could not be decided.
    func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict

    /// Completes a login that the stack as a whole has accepted.
    ///
    /// It is called for every module that the login reached, also for a module that failed or ignored the login. The
    /// default returns `done` if this module succeeded. The result is counted under the control flag again: if a
    /// required module throws here, the login fails. ``LoginAttempt/add(_:attributes:as:)`` adds principals to the
    /// login.
    ///
    /// - Returns: `done`; `ignored` if there was nothing to complete.
    /// - Throws: ``LoginFault`` if the login cannot be completed.
    func commit(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion

    /// Cleans up after a login that the stack as a whole has refused; called for every module that the login reached.
    ///
    /// - Returns: `done`; `ignored` if there was nothing to clean up.
    /// - Throws: ``LoginFault`` if the cleanup failed. It is reported, and the login stays refused.
    func abort(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion

    /// Ends a login, and undoes the effects of ``commit(_:)``.
    ///
    /// The principals of this module are removed from the subject, unless the module throws.
    ///
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
/// Its calls start on the thread of the login and continue on the worker thread that has resumed them, which saves
/// changes of threads. Until it suspends, its deadline is not enforced, and that worker thread makes no other call.
package protocol NonblockingLoginModule: LoginModule {}

/// A login module that has the same outcome in every login, for proofs about stacks.
package protocol ConstantLoginModule: ImmediateLoginModule {
    /// The outcome of every login.
    var onlyOutcome: Outcome { get }
}

/// The decision of one module about a login: success, ignored or failed.
///
/// Source: `LoginModule.login` of JAAS, which returns true or false or throws; the codes of PAM.
public enum Verdict: Sendable {
    /// The module accepts the user. Only ``LoginAttempt/commit(groups:attributes:)`` and its variants create the proof.
    case success(Success)
    /// The module does not apply to this login. A login that all modules ignore is refused.
    case ignored
    /// The module refuses the user.
    case failed(LoginFailure)

    /// Proof that a module has committed principals for the current login.
    ///
    /// It has no public initializer. A proof from another login, or from an earlier call, counts as a failure.
    public struct Success: Sendable {
        let login: LoginRecord
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

/// The options that a module is created from.
public typealias ModuleOptions = Settings<BadModule>

/// A module cannot be created from its options.
public struct BadModule: SettingsFault, Hashable {
    /// The name of the wrong option; nil if the fault is not about a single option.
    public let setting: String?
    /// The problem, for the administrator.
    public let message: String

    /// Creates a fault about one option or several options.
    public init(_ message: String, setting: String? = nil) {
        self.message = message
        self.setting = setting
    }
}
