// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmKit

/// Accepts everybody.
///
/// For trying stacks, and for a stack that ends "and whoever got here may come in".
///
/// Options: `groups`, the groups to commit. Source: pam_permit(8).
public struct PermitLoginModule: ImmediateLoginModule {
    /// `groups`.
    public static let options: PropertySchema = [Property("groups", .list, default: "")]

    private let groups: [String]

    /// Makes the module.
    ///
    /// - Parameters:
    ///   - realm: Any realm.
    ///   - options: `groups`.
    /// - Throws: Nothing that its schema has not refused before.
    public init(realm: any Realm, options: ModuleOptions) throws(BadModule) {
        groups = try options.list("groups")
    }

    /// Yes.
    public func authenticateUser(_ attempt: LoginAttempt) throws(LoginFault) -> Verdict {
        attempt.commit(groups: groups)
    }
}

/// Refuses everybody: the end of a stack that lets in only those whom a sufficient module has let in before.
///
/// Source: pam_deny(8).
public struct DenyLoginModule: ImmediateLoginModule {
    /// Makes the module.
    ///
    /// - Parameters:
    ///   - realm: Any realm.
    ///   - options: None.
    /// - Throws: Nothing.
    public init(realm: any Realm, options: ModuleOptions) throws(BadModule) {}

    /// No: permission denied.
    public func authenticateUser(_ attempt: LoginAttempt) throws(LoginFault) -> Verdict {
        .failed(.permissionDenied)
    }
}
