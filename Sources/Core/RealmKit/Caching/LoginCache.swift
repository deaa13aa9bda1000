// SPDX-License-Identifier: Apache-2.0

/// A cache of the logins that realms have accepted; it is used for the realms that have ``CacheTimes``.
///
/// An ``Authenticator`` with a cache looks up each login of such a realm before it evaluates the realm's stack. The
/// contract of an implementation:
///
/// - Only accepted logins are stored. A login with another password never finds an entry.
/// - Neither the password nor a plain hash of it is stored.
/// - A revocation removes entries, and a login that was running during the revocation stores no entry.
/// - It may be used from any thread, and does not wait.
package protocol LoginCache: Sendable {
    /// Returns the cache's entry for a login, which may be empty.
    ///
    /// Modules may decide by the service and by the client's address, so both are part of the key.
    ///
    /// - Parameters:
    ///   - request: The realm, the user name, the service and the client's address.
    ///   - account: The account of the user name.
    ///   - password: The password.
    /// - Returns: The entry; nil if the cache cannot be used now, so that the realm must decide.
    func entry(
        for request: LoginRequest,
        account: Account,
        password: Secret
    ) -> (any LoginCacheEntry)?

    /// Returns whether a realm is down.
    ///
    /// - Parameters:
    ///   - realm: The realm's name.
    ///   - check: Checks it; called once if several logins need the result at the same time.
    /// - Returns: The result of the check; false if the login is cancelled.
    func isDown(_ realm: String, check: @escaping @Sendable () async -> Bool) async -> Bool

    /// Reports that a realm that is down has not decided about a login, which was accepted because of its entry.
    ///
    /// - Parameters:
    ///   - account: The account.
    ///   - report: The report of the unavailable realm.
    ///   - age: The time since the realm accepted the user.
    func reportStaleUse(_ account: Account, instead report: LoginReport, age: Duration)
}

/// The entry of a ``LoginCache`` for one realm, service, client address, user name and password.
///
/// It may be empty.
package protocol LoginCacheEntry: Sendable {
    /// The accepted login with the same credentials, of any age; nil if there is none.
    var accepted: (login: CachedLogin, age: Duration)? { get }

    /// Stores an accepted login, and removes the account's entries with another password.
    ///
    /// - Parameter login: The accepted login.
    func store(_ login: CachedLogin)

    /// Notes that the realm has refused the password, from any address and for any service.
    ///
    /// The entries of logins with this password are removed; logins with it that are running now store no entry.
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
    package let lifetime: Duration
    /// The additional time for which it is repeated if the realm is down.
    package let staleTime: Duration

    package init(lifetime: Duration, staleTime: Duration) {
        self.lifetime = lifetime
        self.staleTime = staleTime
    }
}
