// SPDX-License-Identifier: Apache-2.0

/// A realm whose users can be listed and changed, for example by `gatehouse user`.
///
/// A change is durable when its call returns, and takes effect completely or not at all. If two programs change the
/// same realm at the same time, no change is lost. Source: `FileRealm` of GlassFish (`addUser`, `removeUser`,
/// `updateUser`, `persist`).
public protocol ManagedRealm: UserListingRealm {
    /// True if names that differ in case only are names of one user; false by default.
    var ignoresCase: Bool { get }

    /// Adds a user, with the hash of the password in a format that the realm reads; nil for a user who cannot sign in yet.
    ///
    /// - Throws: ``RealmError`` of code `userExists` if the name is taken, `invalidOperation` for a name, group,
    ///   state or attribute that the realm cannot store, `unavailable` if the user could not be stored.
    func add(_ user: UserRecord, hash: String?) async throws(RealmError)

    /// Adds all the given users, or no user.
    ///
    /// `progress` is called from time to time with the number of users done so far, for example for a progress bar. A realm
    /// that is fast enough need not call it.
    ///
    /// - Throws: ``RealmError`` as from ``add(_:hash:)``; `invalidOperation` if the realm adds only one user at a time;
    ///   `unavailable` if the task was cancelled.
    func add(all users: [NewUser], progress: @escaping @Sendable (Int) -> Void) async throws(RealmError)

    /// Adds all the users of a source, or no user; a realm that stores many users reads them in batches, in one transaction.
    ///
    /// - Throws: ``RealmError`` as from ``add(all:progress:)``, or from the source.
    func add(from source: any UserSource, progress: @escaping @Sendable (Int) -> Void) async throws(RealmError)

    /// Returns all users with their hashes, in formats that every realm reads.
    ///
    /// - Throws: ``RealmError`` of code `invalidOperation` if the realm does not export hashes, or `unavailable`.
    func exportUsers() async throws(RealmError) -> [NewUser]

    /// Changes a user's record.
    ///
    /// - Throws: ``RealmError`` of code `noSuchUser`, `invalidOperation` or `unavailable`.
    func change(_ user: Username, _ changes: UserChanges) async throws(RealmError)

    /// Removes a user.
    ///
    /// - Throws: ``RealmError`` of code `noSuchUser` or `unavailable`.
    func remove(_ user: Username) async throws(RealmError)
}

extension ManagedRealm {
    /// False: by default names that differ in case belong to different users.
    public var ignoresCase: Bool { false }

    /// Throws `invalidOperation`: by default a realm does not export hashes.
    public func exportUsers() async throws(RealmError) -> [NewUser] {
        throw .invalidOperation("a realm of type \(authType) does not export its hashes")
    }

    /// Adds a single user; throws `invalidOperation` for several, because this default cannot add all in one step.
    public func add(all users: [NewUser], progress: @escaping @Sendable (Int) -> Void) async throws(RealmError) {
        guard let user = users.first else { return }
        guard users.count == 1 else { throw .invalidOperation("a realm of type \(authType) takes one user at a time") }
        try await add(user.record, hash: user.hash)
    }

    /// Reads all the users of a source, and then adds them.
    public func add(from source: any UserSource, progress: @escaping @Sendable (Int) -> Void) async throws(RealmError) {
        var users: [NewUser] = []
        try source.read { users += $0 }
        try await add(all: users, progress: progress)
    }

    /// Adds all the given users, or no user.
    public func add(all users: [NewUser]) async throws(RealmError) {
        try await add(all: users) { _ in }
    }
}

/// A realm whose users can be listed, for example by `gatehouse user list`; a ``ManagedRealm`` can also change them.
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

    /// Returns one user with the groups, or nil if there is none; the default searches ``users()``.
    ///
    /// - Throws: ``RealmError`` as from ``users()``.
    func user(_ name: Username) async throws(RealmError) -> UserRecord?
}

extension UserListingRealm {
    /// Searches ``users()``.
    public func user(_ name: Username) async throws(RealmError) -> UserRecord? {
        try await users().first { $0.name == name }
    }
}
