// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmKit

/// Accepts a member of the team who knows its passphrase.
///
/// Options: those by which modules share a password, ``RealmKit/PropertySchema/firstPass``.
public struct TeamLoginModule: PasswordLoginModule {
    /// How this module shares a password with the other modules of the stack.
    public let firstPass: FirstPass

    private let realm: TeamRealm

    /// Makes the module for a realm.
    ///
    /// - Parameters:
    ///   - realm: The team.
    ///   - options: How to share a password.
    /// - Throws: Nothing: the options have been checked against the schema.
    public init(realm: TeamRealm, options: ModuleOptions) throws(BadModule) {
        self.realm = realm
        firstPass = try FirstPass(options)
    }

    /// Accepts the user if it is a member and the password is the team's passphrase.
    public func authenticate(_ attempt: LoginAttempt, password: Secret) async throws(LoginFault) -> Verdict {
        // Compared first, so that the time is the same for other users.
        let isRight = realm.accepts(password)
        guard let groups = realm.groups(of: attempt.username) else { return .failed(.unknownUser) }
        guard isRight else { return .failed(.wrongCredentials) }
        return attempt.commit(groups: groups)
    }
}
