// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A realm whose users can be listed and changed, as by `gatehouse user`.
///
/// Every change is there for good when its call returns, and is all there or not at all; two programs that change the same
/// realm at the same time lose nothing of each other's. Source: `FileRealm` of GlassFish (`addUser`, `removeUser`,
/// `updateUser`, `persist`).
public protocol ManagedRealm: Realm {
    /// All users, in the realm's own order.
    ///
    /// - Returns: The users, without their hashes.
    /// - Throws: ``RealmError`` of code `unavailable` when they cannot be read.
    func users() async throws(RealmError) -> [UserRecord]

    /// Adds a user.
    ///
    /// - Parameters:
    ///   - user: The user's name, groups and state.
    ///   - hash: The password's hash in one of the formats the realm reads; nil for a user that cannot sign in yet.
    /// - Throws: ``RealmError`` of code `userExists` if there is one of that name, `invalidOperation` for names, groups or
    ///   states that the realm cannot hold, `unavailable` when nothing could be written.
    func add(_ user: UserRecord, hash: String?) async throws(RealmError)

    /// Adds many users, all of them or none.
    ///
    /// - Parameter users: The users and their hashes, as for ``add(_:hash:)``.
    /// - Throws: ``RealmError``: as from ``add(_:hash:)``; `invalidOperation` where a realm takes one at a time only.
    func add(all users: [NewUser]) async throws(RealmError)

    /// All users with their hashes, in forms that every realm reads.
    ///
    /// - Returns: The users.
    /// - Throws: ``RealmError``: `invalidOperation` where hashes are not given away, `unavailable`.
    func exportUsers() async throws(RealmError) -> [NewUser]

    /// Changes what is known of a user.
    ///
    /// - Parameters:
    ///   - user: Whose record.
    ///   - changes: What is to be otherwise.
    /// - Throws: ``RealmError`` of code `noSuchUser`, `invalidOperation` or `unavailable`.
    func change(_ user: Username, _ changes: UserChanges) async throws(RealmError)

    /// Removes a user.
    ///
    /// - Parameter user: Who is to go.
    /// - Throws: ``RealmError`` of code `noSuchUser` or `unavailable`.
    func remove(_ user: Username) async throws(RealmError)
}

extension ManagedRealm {
    /// Refuses: hashes are not given away.
    public func exportUsers() async throws(RealmError) -> [NewUser] {
        throw .invalidOperation("a realm of type \(authType) does not give its hashes away")
    }

    /// Takes one user only, as most realms cannot promise all or none.
    public func add(all users: [NewUser]) async throws(RealmError) {
        guard let user = users.first else { return }
        guard users.count == 1 else { throw .invalidOperation("a realm of type \(authType) takes one user at a time") }
        try await add(user.record, hash: user.hash)
    }
}

/// A user that is to be added, and the hash of the password.
public struct NewUser: Sendable, Hashable {
    /// Name, groups and state.
    public let record: UserRecord
    /// The hash, in one of the formats the realm reads; nil for a user that cannot sign in yet.
    public let hash: String?

    /// A user.
    ///
    /// - Parameters:
    ///   - record: Name, groups and state.
    ///   - hash: The hash of the password.
    public init(_ record: UserRecord, hash: String?) {
        self.record = record
        self.hash = hash
    }
}

/// A realm whose users may change behind its back, as those of a file do.
public protocol RefreshingRealm: Realm {
    /// Looks whether users have changed since the last look, and takes over what has.
    ///
    /// It costs little where nothing has changed: the server asks about once a second.
    ///
    /// - Returns: Whom to forget: users who are gone, or whose password, groups or state are others.
    func refresh() async -> ChangedUsers

    /// What the realm knows of a user whom it has accepted, for sessions that outlive the server.
    ///
    /// ``refresh()`` tells what changes while the server runs; what has changed while it did not run is found by comparing
    /// two stamps.
    ///
    /// - Parameter user: The user, as the realm spells the name.
    /// - Returns: Whether the user may go on, and the stamp; `unknown`, which is the default, if the realm cannot say.
    func state(of user: Username) async -> UserState
}

extension RefreshingRealm {
    /// The realm cannot say.
    public func state(of user: Username) async -> UserState { .unknown }
}

/// Whose credentials and sessions are no longer to be believed.
public enum ChangedUsers: Sendable, Hashable {
    /// These users, or nobody.
    case some(Set<Username>)
    /// Everybody: it is not known who.
    case all

    /// Nobody.
    public static let none = ChangedUsers.some([])
}

/// What a realm knows of a user, the password aside.
public struct UserRecord: Sendable, Hashable {
    /// The name, as the realm spells it.
    public var name: Username
    /// The groups, each once, in the realm's order.
    public var groups: [String]
    /// Whether the user may sign in.
    public var isEnabled: Bool
    /// When the account ends, in seconds since 1970; nil for never.
    public var expiry: Int?
    /// Whether the password has to be changed before it is good for signing in.
    public var mustChangePassword: Bool
    /// In which format the password is kept, as in `argon2id m=19456,t=2,p=1`.
    ///
    /// Nil if there is none, or none that can be read; of no meaning in ``ManagedRealm/add(_:hash:)``.
    public var format: String?

    /// A user.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - groups: The groups, each once.
    ///   - isEnabled: Whether the user may sign in.
    ///   - expiry: When the account ends, in seconds since 1970; nil for never.
    ///   - mustChangePassword: Whether the password has to be changed first.
    ///   - format: In which format the password is kept.
    public init(
        _ name: Username,
        groups: [String] = [],
        isEnabled: Bool = true,
        expiry: Int? = nil,
        mustChangePassword: Bool = false,
        format: String? = nil
    ) {
        self.name = name
        self.groups = groups
        self.isEnabled = isEnabled
        self.expiry = expiry
        self.mustChangePassword = mustChangePassword
        self.format = format
    }
}

/// What is to be otherwise about a user; what is nil stays.
public struct UserChanges: Sendable, Hashable {
    /// A new hash of a password.
    public var hash: String?
    /// The hash that ``hash`` replaces: where it is another by now, nothing is changed.
    ///
    /// For rehashing at login, which must not undo a password change that happened meanwhile.
    public var replacing: String?
    /// All groups from now on.
    public var groups: [String]?
    /// Whether the user may sign in.
    public var isEnabled: Bool?
    /// When the account ends, in seconds since 1970; `.some(nil)` for never.
    public var expiry: Int??
    /// Whether the password has to be changed first.
    public var mustChangePassword: Bool?

    /// No changes yet.
    public init() {}
}
