// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmKit

/// Accepts a user whose name starts with the realm's string, as a member of the group `User`.
///
/// It is also registered under the name of the Java module that it is modelled on, so that a login.conf written for
/// that one works here.
public struct StartWithLoginModule: ImmediateLoginModule {
    /// `StartWithLoginModule` and `org.xtech.examples.gfloginmodule.MyLoginModule`.
    public static let moduleNames = ["StartWithLoginModule", "org.xtech.examples.gfloginmodule.MyLoginModule"]

    private let realm: StartWithRealm
    private let groups = [StartWithRealm.group]

    /// Creates the module for a realm.
    ///
    /// - Parameters:
    ///   - realm: The realm with the string.
    ///   - options: None.
    /// - Throws: Nothing.
    public init(realm: StartWithRealm, options: ModuleOptions) throws(BadModule) {
        self.realm = realm
    }

    /// Succeeds if the name starts with the realm's string.
    public func authenticateUser(_ attempt: LoginAttempt) throws(LoginFault) -> Verdict {
        guard attempt.username.starts(with: realm.startWith) else { return .failed(.wrongCredentials) }
        return attempt.commit(groups: groups)
    }
}
