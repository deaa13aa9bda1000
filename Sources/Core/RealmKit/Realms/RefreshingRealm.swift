// SPDX-License-Identifier: Apache-2.0

/// A realm whose users may change while the server runs, such as a realm that reads a file.
public protocol RefreshingRealm: Realm {
    /// Checks for changes since the last call, and loads them.
    ///
    /// The server calls it about once a second, so it must cost little if nothing has changed. It may be called from
    /// any thread.
    ///
    /// - Returns: The users who were removed, or whose password, groups or state changed.
    func refresh() async -> ChangedUsers

    /// Returns the current state of a user whom the realm has accepted before.
    ///
    /// The server compares the stamps of two calls to find changes that happened while it was stopped. Changes while it
    /// runs are reported by ``refresh()``. The default is `unknown`: the realm cannot determine the state.
    func state(of user: Username) async -> UserState
}

extension RefreshingRealm {
    /// Returns `unknown`.
    public func state(of user: Username) async -> UserState { .unknown }
}

/// The users whose cached credentials and sessions are no longer valid.
public enum ChangedUsers: Sendable, Hashable {
    /// These users; the set may be empty.
    case some(Set<Username>)
    /// All users of the realm, because the realm does not know which users changed.
    case all

    /// No users.
    public static let none = ChangedUsers.some([])
}

/// The state of a user whom a realm has accepted before.
public enum UserState: Sendable, Hashable {
    /// The realm cannot determine the state.
    case unknown
    /// The user was removed or may no longer sign in.
    case gone
    /// The user may sign in; the stamp changes with the user's password, groups and state.
    case present(SecurityStamp)

    /// The stamp of a user who may sign in.
    public var stamp: SecurityStamp? { if case .present(let stamp) = self { stamp } else { nil } }
}

/// A digest of the data that determines a user's access: the password, the groups and the state of the account.
///
/// Two stamps of a user are equal as long as this data has not changed. A stamp is created by a realm and is valid for
/// that realm only. It must not be shown, logged or stored unchanged: if a realm stores passwords in clear text, a
/// password could be guessed from a stamp.
public struct SecurityStamp: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// The maximum length of a stamp, in bytes.
    public static let maximumBytes = 64

    /// The bytes of the digest.
    public let bytes: [UInt8]
    /// The time at which the account expires, in seconds since 1970; nil for never.
    public let expiry: Int?

    /// Creates a stamp from a digest of all the data, each item preceded by its length, of which bytes after ``maximumBytes``
    /// are cut off; sessions end no later than the account expires.
    public init(_ bytes: [UInt8], expiry: Int? = nil) {
        self.bytes = Array(bytes.prefix(Self.maximumBytes))
        self.expiry = expiry
    }

    /// The same text for all stamps.
    public var description: String { "user stamp" }

    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
