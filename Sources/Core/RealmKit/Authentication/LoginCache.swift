// SPDX-License-Identifier: Apache-2.0

/// A cache of the logins that realms with ``CacheTimes`` have accepted, looked up before such a realm's stack is evaluated.
///
/// The contract of an implementation, which may be used from any thread and does not wait:
///
/// - Only accepted logins are stored. A login with another password never finds an entry.
/// - Neither the password nor a plain hash of it is stored.
/// - A revocation removes entries, and a login that was running during the revocation stores no entry.
package protocol LoginCache: Sendable {
    /// Returns the cache's entry for a login, which may be empty; nil if the cache cannot be used now.
    ///
    /// Modules may decide by the service and by the client's address, so both are part of the key.
    func entry(for request: LoginRequest, account: Account, password: Secret) -> (any LoginCacheEntry)?

    /// Returns whether a realm is down, by one check if several logins ask at a time; false if the login is cancelled.
    func isDown(_ realm: String, check: @escaping @Sendable () async -> Bool) async -> Bool

    /// Reports a login accepted because of its entry, of an age since the realm accepted the user, while the realm is down.
    func reportStaleUse(_ account: Account, instead report: LoginReport, age: Duration)
}

/// The entry, perhaps empty, of a ``LoginCache`` for one realm, service, client address, user name and password.
package protocol LoginCacheEntry: Sendable {
    /// The accepted login with the same credentials, of any age; nil if there is none.
    var accepted: (login: CachedLogin, age: Duration)? { get }

    /// Stores an accepted login, and removes the account's entries with another password.
    func store(_ login: CachedLogin)

    /// Removes the entries with this password, which the realm has refused, for all addresses and services; logins with it
    /// that are running now store no entry.
    func refuse()

    /// Removes all entries of the account; logins of the account that are running now store no entry.
    func remove()
}

/// The result of an accepted login, as it is cached.
package struct CachedLogin: Sendable {
    package let username: Username
    /// All principals that the modules committed, except the user name.
    package let principals: [Principal]
    package let attributes: [UserAttribute]

    init(_ identity: AuthenticatedIdentity, subject: Subject) {
        username = identity.username
        let user = Principal.user(identity.username.text)
        principals = subject.principals.filter { $0 != user }
        attributes = subject.attributes
    }
}

/// The times of a realm's `cache` block.
package struct CacheTimes: Sendable, Hashable {
    /// The time for which an accepted login is repeated without asking the realm.
    package var lifetime: Duration
    /// The additional time for which it is repeated if the realm is down.
    package var staleTime: Duration

    package init(lifetime: Duration, staleTime: Duration) {
        self.lifetime = lifetime
        self.staleTime = staleTime
    }
}
