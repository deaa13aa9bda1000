// SPDX-License-Identifier: Apache-2.0
// Gatehouse

#if LDAP
public import RealmKit

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

    /// Creates the module for a realm.
    ///
    /// - Parameters:
    ///   - realm: The realm whose users are checked.
    ///   - options: The options of `FirstPass`.
    /// - Throws: ``BadModule`` if the options cannot be read.
    public init(realm: LDAPRealm, options: ModuleOptions) throws(BadModule) {
        firstPass = try FirstPass(options)
        self.realm = realm
    }

    /// Succeeds if the directory has one entry for the name, and accepts a bind with its name and the password.
    ///
    /// An empty password never reaches the directory, which would accept it as an anonymous bind (RFC 4513 section 5.1.2).
    /// Neither does a password with a NUL character, which some directories end there.
    public func authenticate(_ attempt: LoginAttempt, password: Secret) async throws(LoginFault) -> Verdict {
        guard !password.isEmpty else { return .failed(.wrongCredentials) }
        guard Self.isUsable(password) else { return .failed(.unusableCredential) }
        guard let typed = realm.typedName(attempt.username) else { return .failed(.unknownUser) }
        let answer = try await realm.directory.authenticate(
            typed,
            password: password,
            source: ClientNetwork.source(attempt.peer),
            note: attempt.note
        )
        if case .refused(let problem) = answer, let change = problem.change,
            realm.directory.settings.canChangePassword(by: change)
        {
            return try await changePassword(attempt, typed: typed, old: password, problem: problem, change: change)
        }
        return try await verdict(answer, attempt: attempt)
    }

    private static func isUsable(_ password: Secret) -> Bool {
        password.withBytes { bytes in !bytes.indices.contains { bytes[$0] == 0 } }
    }

    private func verdict(_ answer: DirectoryAnswer, attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
        switch answer {
        case .accepted(let user):
            return attempt.commit(as: user.username, groups: user.groups, attributes: user.attributes)
        case .refused(let problem): return .failed(problem.failure)
        case .newPasswordRefused: return .failed(.credentialExpired)
        case .unknownUser(let missing):
            do {
                try await Task.sleep(for: missing)
            } catch {
                throw .unavailable("the login was cancelled")
            }
            return .failed(.unknownUser)
        }
    }

    // MARK: New passwords

    /// The number of new passwords that a user may try.
    private static let rounds = 3

    /// Asks for a new password, and changes it in the directory.
    private func changePassword(
        _ attempt: LoginAttempt,
        typed: TypedName,
        old: Secret,
        problem: BindProblem,
        change: BindProblem.PasswordChange
    ) async throws(LoginFault) -> Verdict {
        var text = "The password must be changed."
        for _ in 0..<Self.rounds {
            guard let new = try await newPassword(attempt, text: text, old: old) else { break }
            switch new {
            case .refused(let reason): text = reason
            case .password(let password):
                let answer = try await realm.directory.change(
                    typed,
                    passwords: (old, password),
                    change: change,
                    source: ClientNetwork.source(attempt.peer),
                    note: attempt.note
                )
                guard case .newPasswordRefused(let reason) = answer else {
                    return try await verdict(answer, attempt: attempt)
                }
                text = reason
            }
        }
        return .failed(problem.failure)
    }

    private enum NewPassword {
        case password(Secret)
        case refused(String)
    }

    /// Asks for a new password; returns nil if the conversation has no answer.
    private func newPassword(
        _ attempt: LoginAttempt,
        text: String,
        old: Secret
    ) async throws(LoginFault) -> NewPassword? {
        let answers = try await attempt.ask([
            .message(text), .password(prompt: "New password"), .password(prompt: "New password again"),
        ])
        guard answers.count == 3, case .secret(let first) = answers[1], case .secret(let second) = answers[2],
            // HTTP Basic gives the same password again, which is no new password.
            !first.isEqual(to: old)
        else { return nil }
        guard first.isEqual(to: second) else { return .refused("The two new passwords differ.") }
        guard !first.isEmpty, Self.isUsable(first) else { return .refused("The new password cannot be used.") }
        return .password(first)
    }
}

extension LDAPLoginModule: NonblockingLoginModule {}
#endif
