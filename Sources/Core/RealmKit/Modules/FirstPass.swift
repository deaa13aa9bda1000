// SPDX-License-Identifier: Apache-2.0

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

    /// Shares no password: the user is asked, and nothing is stored or removed.
    public static let unshared = FirstPass()

    private init() { (tries, uses, stores, clears) = (false, false, false, false) }

    /// Reads the four options; throws if the schema does not contain ``PropertySchema/firstPass``.
    public init(_ options: ModuleOptions) throws(BadModule) {
        tries = try options.boolean("tryFirstPass")
        uses = try options.boolean("useFirstPass")
        stores = try options.boolean("storePass")
        clears = try options.boolean("clearPass")
    }

    /// Throws if the options share a password, but the module with this value has not read them.
    ///
    /// A password would otherwise stay stored, or be asked for, against the configuration.
    func check(_ options: ModuleOptions) throws(BadModule) {
        guard self == .unshared else { return }
        for name in PropertySchema.firstPass.properties.map(\.name) where (try? options.boolean(name)) == true {
            throw BadModule("has no effect, because the module shares no password", setting: name)
        }
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

    /// Removes the shared name and password if `clearPass` is set; a module that implements commit or abort itself must
    /// call it there.
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
