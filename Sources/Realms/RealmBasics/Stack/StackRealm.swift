// SPDX-License-Identifier: Apache-2.0

public import RealmKit

/// A realm whose users belong to other services: the modules of its login.conf entry authenticate them.
///
/// Property: `jaas-context`, which is required.
public struct StackRealm: Realm {
    /// The property `jaas-context`, which is required.
    public static let properties: PropertySchema = [.required("jaas-context")]

    /// The entry of login.conf that checks this realm's users.
    public let jaasContext: String

    /// The authentication type `Stack`.
    public var authType: String { "Stack" }

    /// Creates the realm; throws if `jaas-context` is not set.
    public init(_ properties: RealmProperties) throws(BadRealm) { jaasContext = try properties.jaasContext }
}

/// Accepts every user, as pam_permit(8) does.
///
/// It is for tests of stacks, or the last module of a stack that accepts every user whom no other module rejects.
/// Option: `groups`, the groups to commit.
public struct PermitLoginModule: ConstantLoginModule {
    package var onlyOutcome: Outcome { .success }

    /// The option `groups`.
    public static let options: PropertySchema = [Property("groups", .list, default: "")]

    private let groups: [String]

    /// Creates the module for any realm, with the option `groups`.
    public init(realm: any Realm, options: ModuleOptions) throws(BadModule) { groups = try options.list("groups") }

    /// Succeeds and commits the groups.
    public func authenticateUser(_ attempt: LoginAttempt) throws(LoginFault) -> Verdict {
        attempt.commit(groups: groups)
    }
}

/// Rejects every user, as pam_deny(8) does.
///
/// As the last module of a stack it leaves only users whom a sufficient module accepts.
public struct DenyLoginModule: ConstantLoginModule {
    package var onlyOutcome: Outcome { .failure(.permissionDenied) }

    /// Creates the module, which has no options.
    public init(realm: any Realm, options: ModuleOptions) throws(BadModule) {}

    /// Fails with `permissionDenied`.
    public func authenticateUser(_ attempt: LoginAttempt) throws(LoginFault) -> Verdict {
        .failed(.permissionDenied)
    }
}
