// SPDX-License-Identifier: Apache-2.0

public import RealmKit

/// Accepts users whose name starts with the realm's string, and commits the group `User`.
///
/// It is also registered under the name of the Java module that is its model. A login.conf for the Java module
/// therefore works here too.
public struct StartWithLoginModule: ImmediateLoginModule {
    /// `StartWithLoginModule` and `org.xtech.examples.gfloginmodule.MyLoginModule`.
    public static let moduleNames = ["StartWithLoginModule", "org.xtech.examples.gfloginmodule.MyLoginModule"]

    private let realm: StartWithRealm
    private let groups = [StartWithRealm.group]

    /// Creates the module for a realm.
    ///
    /// - Parameters:
    ///   - realm: The realm that contains the string.
    ///   - options: The module has no options.
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
