// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A module that checks a name and a password, and need not care where the password comes from.
///
/// It brings the options by which such modules share a password in a stack (``FirstPass``): implement
/// ``authenticate(_:password:)``, list ``PropertySchema/firstPass`` among the ``LoginModule/options`` and keep a
/// ``FirstPass`` made of them.
public protocol PasswordLoginModule<RealmType>: LoginModule {
    /// How this module shares a password with its neighbours.
    var firstPass: FirstPass { get }

    /// Decides whether this is the user's password, and commits if it is.
    ///
    /// - Parameters:
    ///   - attempt: The login at hand.
    ///   - password: The password to check; it may be empty, which most realms must refuse.
    /// - Returns: What ``LoginAttempt/commit(groups:)`` gave, or another verdict.
    /// - Throws: ``LoginFault`` when the question could not be decided.
    func authenticate(_ attempt: LoginAttempt, password: Secret) async throws(LoginFault) -> Verdict
}

extension PasswordLoginModule {
    /// The options by which modules share a password.
    public static var options: PropertySchema { .firstPass }

    /// Gets the password as ``firstPass`` says and checks it.
    public func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
        try await firstPass.authenticate(self, attempt)
    }

    /// Done if this module succeeded; removes the shared password if `clearPass` says so.
    public func commit(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion {
        firstPass.cleanUp(attempt)
        return attempt.succeeded ? .done : .ignored
    }

    /// Done if this module succeeded; removes the shared password if `clearPass` says so.
    public func abort(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion {
        firstPass.cleanUp(attempt)
        return attempt.succeeded ? .done : .ignored
    }
}

/// How a module shares a password with the other modules of its stack.
///
/// Source: the options `tryFirstPass`, `useFirstPass`, `storePass` and `clearPass` of the JDK's LdapLoginModule and
/// JndiLoginModule.
public struct FirstPass: Sendable, Hashable {
    /// Try the password that an earlier module has stored; if it is wrong or not there, ask.
    ///
    /// Wins over `useFirstPass`.
    public let tries: Bool
    /// Use the password that an earlier module has stored; if it is wrong or not there, fail without asking.
    public let uses: Bool
    /// After a success, store name and password for the modules behind, unless either is there already.
    public let stores: Bool
    /// Remove the stored name and password once the login is committed or aborted.
    public let clears: Bool

    /// Reads the four options.
    ///
    /// - Parameter options: Options whose schema holds ``PropertySchema/firstPass``.
    /// - Throws: ``BadModule`` when the schema lacks them.
    public init(_ options: ModuleOptions) throws(BadModule) {
        tries = try options.boolean("tryFirstPass")
        uses = try options.boolean("useFirstPass")
        stores = try options.boolean("storePass")
        clears = try options.boolean("clearPass")
    }

    func authenticate(_ module: some PasswordLoginModule, _ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
        guard tries || uses else { return try await check(module, attempt, attempt.password()) }
        guard let first = attempt.shared.secret(.password) else {
            guard tries else { throw LoginFault(.missingCredential, log: "useFirstPass: no module stored a password") }
            return try await check(module, attempt, attempt.password())
        }
        let verdict = try await check(module, attempt, first)
        guard tries, case .failed(.wrongCredentials) = verdict else { return verdict }
        // Where nobody can be asked, the conversation repeats the same password: once is enough.
        let second = try await attempt.password()
        return second.isEqual(to: first) ? verdict : try await check(module, attempt, second)
    }

    private func check(
        _ module: some PasswordLoginModule,
        _ attempt: LoginAttempt,
        _ password: Secret
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

    /// Removes the shared password if `clearPass` says so; for modules with a commit or abort of their own.
    ///
    /// - Parameter attempt: The login at hand.
    public func cleanUp(_ attempt: LoginAttempt) {
        guard clears else { return }
        attempt.updateShared { shared in
            shared[.name] = nil
            shared[.password] = nil
        }
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

    /// A schema with the properties of two.
    ///
    /// - Parameters:
    ///   - left: The first schema.
    ///   - right: The second one, which counts where both declare a name.
    /// - Returns: A schema in which every name stands once.
    public static func + (left: PropertySchema, right: PropertySchema) -> PropertySchema {
        PropertySchema(left.properties + right.properties)
    }
}
