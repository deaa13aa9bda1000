// SPDX-License-Identifier: Apache-2.0

public import RealmKit

/// Checks the names and passwords of a ``RemoteRealm``'s users.
///
/// The options are those of `FirstPass`.
public struct RemoteLoginModule: PasswordLoginModule {
    /// The settings for sharing the password with the other modules of the stack.
    public let firstPass: FirstPass
    private let realm: RemoteRealm

    /// Creates the module for a realm.
    ///
    /// - Parameters:
    ///   - realm: The realm whose users are checked.
    ///   - options: The options of `FirstPass`.
    /// - Throws: ``BadModule`` if the options cannot be read.
    public init(realm: RemoteRealm, options: ModuleOptions) throws(BadModule) {
        firstPass = try FirstPass(options)
        self.realm = realm
    }

    /// Succeeds if the service accepts the user name and the password.
    ///
    /// An empty password is refused without asking the service, because some services accept it as an anonymous login.
    public func authenticate(_ attempt: LoginAttempt, password: Secret) async throws(LoginFault) -> Verdict {
        guard !password.isEmpty else { return .failed(.wrongCredentials) }
        let answer: RemoteAnswer
        do throws(LoginFault) {
            answer = try await realm.checks.check(
                attempt.username,
                password: password,
                source: ClientNetwork.source(attempt.peer)
            )
        } catch {
            guard error.kind == .unusableCredential else { throw error }
            return .failed(.unusableCredential)
        }
        switch answer {
        case .failed(let failure): return .failed(failure)
        case .accepted(let user, let groups, let attributes):
            guard let user else { return attempt.commit(groups: groups, attributes: attributes) }
            return attempt.commit(as: user, groups: groups, attributes: attributes)
        }
    }
}

extension RemoteLoginModule: NonblockingLoginModule {}
