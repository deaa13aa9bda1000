// SPDX-License-Identifier: Apache-2.0

public import RealmKit

/// Accepts the members of the team with the passphrase.
public struct TeamLoginModule: PasswordLoginModule {
    private let realm: TeamRealm

    /// Creates the module for a realm.
    ///
    /// - Parameters:
    ///   - realm: The team.
    ///   - options: The options of the module, of which it reads none.
    /// - Throws: Nothing.
    public init(realm: TeamRealm, options: ModuleOptions) throws(BadModule) { self.realm = realm }

    /// Accepts the user if the user is a member and the password is the team's passphrase.
    public func authenticate(_ attempt: LoginAttempt, password: Secret) async throws(LoginFault) -> Verdict {
        // The passphrase is compared for every user, so that logins of unknown users take the same time.
        let isRight = realm.accepts(password)
        guard let groups = realm.groups(of: attempt.username) else { return .failed(.unknownUser) }
        guard isRight else { return .failed(.wrongCredentials) }
        return attempt.commit(groups: groups)
    }
}
