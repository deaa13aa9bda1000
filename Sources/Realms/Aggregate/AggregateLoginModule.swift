// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmKit

/// Authenticates a user in the authentication realm of an ``AggregateRealm``, then adds the groups and attributes of the
/// authorization realms.
///
/// The whole stack of the authentication realm is evaluated in the login phase, with this login's conversation, and
/// within the deadline of this module. The authorization realms are asked in the commit phase, so only for users whom the
/// whole stack has accepted. The module has no options.
public struct AggregateLoginModule: LoginModule {
    private let realm: AggregateRealm

    /// Creates the module for a realm.
    ///
    /// - Parameters:
    ///   - realm: The realm.
    ///   - options: The module has no options.
    /// - Throws: Nothing.
    public init(realm: AggregateRealm, options: ModuleOptions) throws(BadModule) {
        self.realm = realm
    }

    /// Succeeds if the authentication realm accepts the user; commits its name, groups, principals and attributes.
    public func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
        switch try await attempt.login(in: realm.authentication) {
        case .refused(let failure, log: let log?): throw LoginFault(failure, log: log)
        case .refused(let failure, log: nil): return .failed(failure)
        case .accepted(let identity):
            let mapped = realm.authorization.realms.isEmpty ? nil : try realm.authorization.name(of: identity.username)
            if let mapped, mapped != identity.username { attempt.note("name in the authorization realms: \(mapped)") }
            return attempt.commit(
                as: identity.username,
                groups: identity.groups,
                others: identity.subject.principals.filter { $0.kind != .group },
                attributes: identity.attributes
            )
        }
    }

    /// Adds the groups and attributes of the authorization realms.
    public func commit(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion {
        guard attempt.succeeded else { return .ignored }
        guard let identity = attempt.nestedIdentities.last else {
            throw .internalError("the identity of the authentication realm is missing")
        }
        for grant in try await realm.authorization.grants(of: identity.username) {
            attempt.add(grant.groups.map(Principal.group), attributes: grant.attributes)
        }
        return .done
    }

    /// Logs the user out of the authentication realm.
    public func abort(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion {
        try await attempt.logoutNested()
        return attempt.succeeded ? .done : .ignored
    }

    /// Logs the user out of the authentication realm.
    public func logout(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion {
        try await attempt.logoutNested()
        return .done
    }
}
