// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A realm whose users may change while the server runs, as those of a file do.
public protocol RefreshingRealm: Realm {
    /// Checks for changes since the last call, and loads them.
    ///
    /// The server calls it about once a second, so it must cost little where nothing has changed. It may be called from
    /// any thread.
    ///
    /// - Returns: The users who were removed, or whose password, groups or state changed.
    func refresh() async -> ChangedUsers

    /// Returns the current state of a user whom the realm has accepted before.
    ///
    /// The server compares the stamps of two calls to find the changes that happened while it was stopped;
    /// ``refresh()`` reports those that happen while it runs.
    ///
    /// - Parameter user: The user, as the realm spells the name.
    /// - Returns: The state with its stamp; `unknown`, the default, if the realm cannot determine it.
    func state(of user: Username) async -> UserState
}

extension RefreshingRealm {
    /// Returns `unknown`.
    public func state(of user: Username) async -> UserState { .unknown }
}

/// The users whose cached credentials and sessions are no longer valid.
public enum ChangedUsers: Sendable, Hashable {
    /// These users; possibly none.
    case some(Set<Username>)
    /// All users of the realm: it is not known which ones changed.
    case all

    /// No users.
    public static let none = ChangedUsers.some([])
}
