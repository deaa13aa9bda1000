// SPDX-License-Identifier: Apache-2.0

public import RealmKit

/// Authenticates a user in the authentication realm of an ``AggregateRealm``, then adds the groups and attributes of the
/// authorization realms.
///
/// The login phase of the authentication realm's stack is evaluated in the login phase, with this login's conversation, and
/// within the deadline of this module; its commit phase in the commit phase. The authorization realms are asked in the
/// commit phase too, so only for users whom the whole stack has accepted. The module has no options.
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

    /// Succeeds if the login phase of the authentication realm accepts the user; commits its name.
    public func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
        switch try await attempt.login(in: realm.authentication) {
        case .refused(let failure, log: let log?): throw LoginFault(failure, log: log)
        case .refused(let failure, log: nil): return .failed(failure)
        case .accepted(let name):
            if !realm.authorization.realms.isEmpty { _ = try realm.authorization.name(of: name) }
            return attempt.commit(as: name)
        }
    }

    /// Commits the login in the authentication realm, and adds its groups, principals and attributes and those of the
    /// authorization realms.
    public func commit(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion {
        guard attempt.succeeded, let name = attempt.nestedName else {
            try await attempt.abortNested()
            return .ignored
        }
        // The authorization realms are asked first: if one is unavailable, nothing must have been stored.
        let grants = try await realm.authorization.grants(of: name)
        let identity = try await attempt.commitNested()
        attempt.add(
            identity.groups.map(Principal.group) + identity.subject.principals.filter { $0.kind != .group },
            attributes: identity.attributes
        )
        if !realm.authorization.realms.isEmpty {
            let mapped = try realm.authorization.name(of: identity.username)
            if mapped != identity.username { attempt.note("name in the authorization realms: \(mapped)") }
        }
        for grant in grants {
            attempt.add(grant.groups.map(Principal.group), attributes: grant.attributes)
        }
        return .done
    }

    /// Aborts the login in the authentication realm.
    public func abort(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion {
        try await attempt.abortNested()
        return attempt.succeeded ? .done : .ignored
    }

    /// Logs the user out of the authentication realm.
    public func logout(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion {
        try await attempt.logoutNested()
        return .done
    }
}
