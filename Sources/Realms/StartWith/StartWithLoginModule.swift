// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmKit

/// Accepts a user whose name starts with the realm's string, as a member of the group `User`.
///
/// It is also registered under the name its model had in a Java server, so that the line of login.conf that was written
/// for that one works here.
public struct StartWithLoginModule: ImmediateLoginModule {
    /// `StartWithLoginModule` and `org.xtech.examples.gfloginmodule.MyLoginModule`.
    public static let moduleNames = ["StartWithLoginModule", "org.xtech.examples.gfloginmodule.MyLoginModule"]

    private let realm: StartWithRealm
    private let groups = [StartWithRealm.group]

    /// Makes the module for a realm.
    ///
    /// - Parameters:
    ///   - realm: The realm whose string counts.
    ///   - options: None.
    /// - Throws: Nothing.
    public init(realm: StartWithRealm, options: ModuleOptions) throws(BadModule) {
        self.realm = realm
    }

    /// Yes if the name starts with the realm's string.
    public func authenticateUser(_ attempt: LoginAttempt) throws(LoginFault) -> Verdict {
        guard attempt.username.starts(with: realm.startWith) else { return .failed(.wrongCredentials) }
        return attempt.commit(groups: groups)
    }
}
