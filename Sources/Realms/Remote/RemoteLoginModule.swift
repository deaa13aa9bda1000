// SPDX-License-Identifier: Apache-2.0
// Gatehouse

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
                source: Self.source(attempt.peer)
            )
        } catch {
            guard error.kind == .unusableCredential else { throw error }
            return .failed(.unusableCredential)
        }
        switch answer {
        case .failed(let failure): return .failed(failure)
        case .accepted(let user, let groups, _):
            guard let user else { return attempt.commit(groups: groups) }
            return attempt.commit(as: user, groups: groups)
        }
    }

    /// Returns the source of a login: an IPv4 address, or the /48 network of an IPv6 address.
    private static func source(_ peer: String?) -> String {
        guard let source = peer.map({ ClientNetwork($0) }) else { return "here" }
        return (source.description.contains(":") ? source.surroundingNetwork : source).description
    }
}
