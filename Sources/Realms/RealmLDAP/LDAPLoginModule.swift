// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Bytes
public import RealmKit
internal import ServerConnections

/// Checks the names and passwords of an ``LDAPRealm``'s users.
///
/// If the password has expired or must be changed, and the directory allows it, the user is asked for a new one; HTTP
/// Basic has no answer to that. The options are those of `FirstPass`.
public struct LDAPLoginModule: PasswordLoginModule {
    /// `LDAPLoginModule` and the names of GlassFish's module, older and newer.
    public static let moduleNames = [
        "LDAPLoginModule", "com.sun.enterprise.security.auth.login.LDAPLoginModule",
        "com.sun.enterprise.security.ee.auth.login.LDAPLoginModule",
    ]

    /// The settings for sharing the password with the other modules of the stack.
    public let firstPass: FirstPass
    private let realm: LDAPRealm
    private let changeKey: SharedState.Key
    private let passwordKey: SharedState.Key

    /// Creates the module for a realm.
    ///
    /// - Parameters:
    ///   - realm: The realm whose users are checked.
    ///   - options: The options of `FirstPass`.
    /// - Throws: ``BadModule`` if the options cannot be read.
    public init(realm: LDAPRealm, options: ModuleOptions) throws(BadModule) {
        firstPass = try FirstPass(options)
        self.realm = realm
        changeKey = SharedState.Key("gatehouse.ldap.\(options.realmName).change")
        passwordKey = SharedState.Key("gatehouse.ldap.\(options.realmName).password")
    }

    /// Succeeds if the directory has one entry for the name, and accepts a bind with its name and the password.
    ///
    /// An empty password never reaches the directory, which would accept it as an anonymous bind (RFC 4513 section 5.1.2).
    /// Neither does a password with a NUL character, which some directories end there.
    public func authenticate(_ attempt: LoginAttempt, password: Secret) async throws(LoginFault) -> Verdict {
        guard !password.isEmpty else { return .failed(.wrongCredentials) }
        guard !password.withBytes({ $0.containsNUL }) else { return .failed(.unusableCredential) }
        guard let typed = realm.typedName(attempt.username) else { return .failed(.unknownUser) }
        let isLocked = attempt.isLocked
        let answer = try await run(for: typed, attempt) { login throws(ServerFault) in
            try login.authenticate(typed, password: password, isLocked: isLocked)
        }
        switch answer {
        case .accepted(let user):
            return attempt.commit(as: user.username, groups: user.groups, attributes: user.attributes)
        case .refused(let problem):
            if let change = problem.change, realm.directory.settings.canChangePassword(by: change), !isLocked {
                attempt.updateShared { shared in
                    shared[changeKey] = .text(change.rawValue)
                    shared[passwordKey] = .secret(password)
                }
                return problem.user.map { attempt.commit(as: $0) } ?? attempt.commit(only: [])
            }
            if problem.missing > .zero {
                do { try await Task.sleep(for: problem.missing) } catch {
                    throw .unavailable("the login was cancelled")
                }
            }
            return .failed(problem.failure)
        }
    }

    private func run<Value: Sendable>(
        for typed: TypedName,
        _ attempt: LoginAttempt,
        isRepeatable: Bool = true,
        _ body: @escaping @Sendable (DirectoryLogin) throws(ServerFault) -> Value
    ) async throws(LoginFault) -> Value {
        let source = ClientNetwork.source(attempt.peer)
        return try await realm.directory.run(
            for: typed,
            source: source,
            isRepeatable: isRepeatable,
            note: attempt.note,
            body
        )
    }

    // MARK: Commit

    /// Asks for a new password in place of one that has expired or must be changed, and changes it in the directory.
    ///
    /// This is done in the commit phase, which runs only if the stack accepts the login.
    public func commit(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion {
        firstPass.cleanUp(attempt)
        guard attempt.succeeded else { return .ignored }
        // Another module of this realm in the stack must not ask again.
        let (changeText, password) = attempt.updateShared { shared in
            defer { (shared[changeKey], shared[passwordKey]) = (nil, nil) }
            return (shared.text(changeKey), shared.secret(passwordKey))
        }
        guard let change = changeText.flatMap(PasswordChange.init), let old = password,
            let typed = realm.typedName(attempt.username)
        else { return .done }
        let user = try await changePassword(attempt, typed: typed, old: old, change: change)
        attempt.add(user.groups.map(Principal.group), attributes: user.attributes, as: user.username)
        return .done
    }

    /// Returns the user, whom the directory accepts with the new password.
    private func changePassword(
        _ attempt: LoginAttempt,
        typed: TypedName,
        old: Secret,
        change: PasswordChange
    ) async throws(LoginFault) -> DirectoryUser {
        var answer: DirectoryAnswer?
        _ = try await attempt.newPassword(instead: old) { new throws(LoginFault) in
            guard !new.withBytes({ $0.containsNUL }) else { return "The new password cannot be used." }
            let found = try await run(for: typed, attempt, isRepeatable: false) { login throws(ServerFault) in
                try login.change(typed, from: old, to: new, by: change)
            }
            switch found {
            case .newPasswordRefused(let reason): return reason
            case .login(let login):
                answer = login
                return nil
            }
        }
        switch answer {
        case .accepted(let user): return user
        case .refused(let problem): throw LoginFault(problem.failure, log: problem.text)
        case nil: throw LoginFault(.credentialExpired, log: "the password has expired")
        }
    }
}

extension LDAPLoginModule: NonblockingLoginModule {}
#endif
