// SPDX-License-Identifier: Apache-2.0

/// A realm whose users can be listed, for example by `gatehouse user list`.
///
/// A ``ManagedRealm`` can also change them.
public protocol UserListingRealm: Realm {
    /// Returns all users, in the realm's own order.
    ///
    /// A realm that asks another system may leave out the groups, the state and the attributes that cost a request for
    /// each user; ``user(_:)`` returns them.
    ///
    /// - Returns: The users, without their hashes.
    /// - Throws: ``RealmError`` of code `unavailable` if they cannot be read, or `invalidOperation` if the realm is
    ///   configured so that it cannot list them.
    func users() async throws(RealmError) -> [UserRecord]

    /// Returns one user.
    ///
    /// The default searches ``users()``.
    ///
    /// - Parameter name: The user's name.
    /// - Returns: The user with the groups; nil if there is none.
    /// - Throws: ``RealmError`` as from ``users()``.
    func user(_ name: Username) async throws(RealmError) -> UserRecord?
}

extension UserListingRealm {
    /// Searches ``users()``.
    public func user(_ name: Username) async throws(RealmError) -> UserRecord? {
        try await users().first { $0.name == name }
    }
}
