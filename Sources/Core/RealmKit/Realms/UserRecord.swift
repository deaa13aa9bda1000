// SPDX-License-Identifier: Apache-2.0

/// A user to add, and the hash of the password.
public struct NewUser: Sendable, Hashable {
    /// The name, the groups and the state.
    public let record: UserRecord
    /// The hash, in a format the realm reads; nil for a user who cannot sign in yet.
    public let hash: String?
    /// The place of the user in a file, such as `users:12`, for messages; nil if the user is not from a file.
    public let place: String?

    /// Creates a user to add.
    public init(_ record: UserRecord, hash: String?, place: String? = nil) {
        self.record = record
        self.hash = hash
        self.place = place
    }
}

/// A user of a realm, without the password.
public struct UserRecord: Sendable, Hashable {
    /// The name, as the realm spells it.
    public var name: Username
    /// The groups, each once, in the realm's order.
    public var groups: [String]
    /// True if the user may sign in.
    public var isEnabled: Bool
    /// The time at which the account expires, in seconds since 1970; nil for never.
    public var expiry: Int?
    /// True if the user cannot sign in until the password is changed.
    public var mustChangePassword: Bool
    /// The format in which the password is stored, such as `argon2id m=19456,t=2,p=1`.
    ///
    /// Nil if there is no password, or its format is unknown. ``ManagedRealm/add(_:hash:)`` ignores the value.
    public var format: String?
    /// The attributes, such as the mail address, each name once.
    public var attributes: [UserAttribute]

    /// Creates a record.
    public init(
        _ name: Username,
        groups: [String] = [],
        isEnabled: Bool = true,
        expiry: Int? = nil,
        mustChangePassword: Bool = false,
        format: String? = nil,
        attributes: [UserAttribute] = []
    ) {
        self.name = name
        self.groups = groups
        self.isEnabled = isEnabled
        self.expiry = expiry
        self.mustChangePassword = mustChangePassword
        self.format = format
        self.attributes = attributes
    }
}

/// A change of one attribute of a user.
public enum AttributeChange: Sendable, Hashable {
    /// Sets the values of the attribute.
    case set(UserAttribute)
    /// Removes the attribute with this name.
    case remove(String)
}

/// Changes to a user's record; nil leaves a value unchanged.
public struct UserChanges: Sendable, Hashable {
    /// The new hash of the password.
    public var hash: String?
    /// The hash that ``hash`` replaces; if the stored hash is different, nothing is changed.
    ///
    /// A rehash at login sets it, so that the rehash cannot undo a concurrent password change.
    public var replacing: String?
    /// All groups of the user.
    public var groups: [String]?
    /// The changes of attributes, for each name at most one; other attributes stay unchanged.
    public var attributes: [AttributeChange] = []
    /// True if the user may sign in.
    public var isEnabled: Bool?
    /// The time at which the account expires, in seconds since 1970; `.some(nil)` for never.
    public var expiry: Int??
    /// True if the user cannot sign in until the password is changed.
    public var mustChangePassword: Bool?

    /// Creates an empty set of changes.
    public init() {}
}

/// Users that are added to a realm together, such as the users of a file.
///
/// The users are read in batches, so that their number is not limited by the memory. They may be read several times, by
/// one reader at a time.
public protocol UserSource: Sendable {
    /// The number of users.
    var count: Int { get }

    /// Passes all users to the closure in batches, in order; an error of the closure ends the reading.
    ///
    /// The caller must discard all users if an error is thrown, even an error at the end.
    ///
    /// - Throws: ``RealmError`` of code `unavailable` if the users cannot be read, or the source has changed.
    func read(_ body: ([NewUser]) throws(RealmError) -> Void) throws(RealmError)
}

/// Users in memory.
public struct UserArray: UserSource {
    private let users: [NewUser]

    /// Creates a source.
    public init(_ users: [NewUser]) { self.users = users }

    /// The number of users.
    public var count: Int { users.count }

    /// Passes all users to the closure in one batch.
    public func read(_ body: ([NewUser]) throws(RealmError) -> Void) throws(RealmError) { try body(users) }
}
