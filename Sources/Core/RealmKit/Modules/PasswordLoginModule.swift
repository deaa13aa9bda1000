// SPDX-License-Identifier: Apache-2.0

/// A module that checks a name and a password, from the user or from an earlier module of its stack.
///
/// A conforming type implements ``authenticate(_:password:)``, lists ``PropertySchema/firstPass`` in its
/// ``LoginModule/options``, and creates its ``firstPass`` from the options.
public protocol PasswordLoginModule<RealmType>: LoginModule {
    /// The options by which this module shares a password.
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

/// The options by which the modules of a stack share a password.
///
/// Source: the options `tryFirstPass`, `useFirstPass`, `storePass` and `clearPass` of the JDK's LdapLoginModule and
/// JndiLoginModule.
public struct FirstPass: Sendable, Hashable {
    /// Use the password that an earlier module stored; if it is wrong or absent, ask the user; precedes `useFirstPass`.
    public let tries: Bool
    /// Use the password that an earlier module stored; if it is wrong or absent, fail without asking.
    public let uses: Bool
    /// After a success, store name and password for the following modules, unless one of them is already stored.
    public let stores: Bool
    /// Remove the stored name and password when the login is committed or aborted.
    public let clears: Bool

    /// Reads the four options; throws if the schema does not contain ``PropertySchema/firstPass``.
    public init(_ options: ModuleOptions) throws(BadModule) {
        tries = try options.boolean("tryFirstPass")
        uses = try options.boolean("useFirstPass")
        stores = try options.boolean("storePass")
        clears = try options.boolean("clearPass")
    }

    func authenticate(_ module: some PasswordLoginModule, attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
        guard tries || uses else { return try await check(module, attempt: attempt, password: attempt.password()) }
        guard let first = attempt.shared.secret(.password) else {
            guard tries else { throw LoginFault(.missingCredential, log: "useFirstPass: no module stored a password") }
            return try await check(module, attempt: attempt, password: attempt.password())
        }
        let verdict = try await check(module, attempt: attempt, password: first)
        guard tries, case .failed(.wrongCredentials) = verdict else { return verdict }
        // A prepared conversation returns the same password again, which has already been refused.
        let second = try await attempt.password()
        return second.isEqual(to: first) ? verdict : try await check(module, attempt: attempt, password: second)
    }

    private func check(
        _ module: some PasswordLoginModule,
        attempt: LoginAttempt,
        password: Secret
    ) async throws(LoginFault) -> Verdict {
        let verdict = try await module.authenticate(attempt, password: password)
        if stores, case .success = verdict {
            attempt.updateShared { shared in
                guard shared[.name] == nil, shared[.password] == nil else { return }
                shared[.name] = .text(attempt.username.text)
                shared[.password] = .secret(password)
            }
        }
        return verdict
    }

    /// Removes the shared name and password if `clearPass` is set; a module that implements commit or abort itself must call
    /// it there.
    public func cleanUp(_ attempt: LoginAttempt) {
        if clears { attempt.updateShared { ($0[.name], $0[.password]) = (nil, nil) } }
    }
}

extension PropertySchema {
    /// The options by which modules share a password: `tryFirstPass`, `useFirstPass`, `storePass`, `clearPass`.
    public static let firstPass: PropertySchema = [
        Property("tryFirstPass", .boolean, default: "false"),
        Property("useFirstPass", .boolean, default: "false"),
        Property("storePass", .boolean, default: "false"),
        Property("clearPass", .boolean, default: "false"),
    ]
}
