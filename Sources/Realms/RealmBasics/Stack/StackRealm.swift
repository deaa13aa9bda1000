// SPDX-License-Identifier: Apache-2.0

public import RealmKit

/// A realm whose users belong to other services.
///
/// The modules of its login.conf entry authenticate these users. The realm does not store users.
///
/// Property: `jaas-context`, which is required.
public struct StackRealm: Realm {
    /// The property `jaas-context`, which is required.
    public static let properties: PropertySchema = [.required("jaas-context")]

    /// The entry of login.conf that checks this realm's users.
    public let jaasContext: String

    /// The authentication type `Stack`.
    public var authType: String { "Stack" }

    /// Creates the realm.
    ///
    /// - Parameter properties: The property `jaas-context`.
    /// - Throws: ``BadRealm`` if `jaas-context` is not set.
    public init(_ properties: RealmProperties) throws(BadRealm) {
        jaasContext = try properties.jaasContext
    }
}

/// Accepts every user.
///
/// It is for tests of stacks. It can also be the last module of a stack that accepts every user whom no other module
/// rejects.
///
/// Option: `groups`, the groups to commit. The model is pam_permit(8).
public struct PermitLoginModule: ImmediateLoginModule {
    /// The option `groups`.
    public static let options: PropertySchema = [Property("groups", .list, default: "")]

    private let groups: [String]

    /// Creates the module.
    ///
    /// - Parameters:
    ///   - realm: Any realm.
    ///   - options: The option `groups`.
    /// - Throws: Nothing, because the schema has checked the options.
    public init(realm: any Realm, options: ModuleOptions) throws(BadModule) {
        groups = try options.list("groups")
    }

    /// Succeeds and commits the groups.
    public func authenticateUser(_ attempt: LoginAttempt) throws(LoginFault) -> Verdict {
        attempt.commit(groups: groups)
    }
}

/// Rejects every user.
///
/// It can be the last module of a stack, so that the stack accepts only users whom a sufficient module accepts.
///
/// The model is pam_deny(8).
public struct DenyLoginModule: ImmediateLoginModule {
    /// Creates the module.
    ///
    /// - Parameters:
    ///   - realm: Any realm.
    ///   - options: The module has no options.
    /// - Throws: Nothing.
    public init(realm: any Realm, options: ModuleOptions) throws(BadModule) {}

    /// Fails with `permissionDenied`.
    public func authenticateUser(_ attempt: LoginAttempt) throws(LoginFault) -> Verdict {
        .failed(.permissionDenied)
    }
}
