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
    /// runs are reported by ``refresh()``.
    ///
    /// - Parameter user: The user name, as the realm spells it.
    /// - Returns: The state with its stamp; `unknown`, the default, if the realm cannot determine it.
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
