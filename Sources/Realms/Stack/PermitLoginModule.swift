// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmKit

/// Accepts every user.
///
/// For tests of stacks, and for the end of a stack that accepts all users that no module before has rejected.
///
/// Options: `groups`, the groups to commit. Source: pam_permit(8).
public struct PermitLoginModule: ImmediateLoginModule {
    /// `groups`.
    public static let options: PropertySchema = [Property("groups", .list, default: "")]

    private let groups: [String]

    /// Creates the module.
    ///
    /// - Parameters:
    ///   - realm: Any realm.
    ///   - options: `groups`.
    /// - Throws: Nothing: the schema has checked the options.
    public init(realm: any Realm, options: ModuleOptions) throws(BadModule) {
        groups = try options.list("groups")
    }

    /// Succeeds.
    public func authenticateUser(_ attempt: LoginAttempt) throws(LoginFault) -> Verdict {
        attempt.commit(groups: groups)
    }
}

/// Rejects every user: for the end of a stack that accepts only users whom a sufficient module has accepted.
///
/// Source: pam_deny(8).
public struct DenyLoginModule: ImmediateLoginModule {
    /// Creates the module.
    ///
    /// - Parameters:
    ///   - realm: Any realm.
    ///   - options: None.
    /// - Throws: Nothing.
    public init(realm: any Realm, options: ModuleOptions) throws(BadModule) {}

    /// Fails with permission denied.
    public func authenticateUser(_ attempt: LoginAttempt) throws(LoginFault) -> Verdict {
        .failed(.permissionDenied)
    }
}
