// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// Somebody a realm has accepted: just now, or when their session began.
///
/// Rules decide by it. It is made of an ``AuthenticatedIdentity``, or by a store that has kept one.
public struct SignedInUser: Sendable, Hashable {
    /// The name of the realm the user lives in.
    public let realm: String
    /// The user, as the realm spells the name.
    public let username: Username
    /// The names of all groups, each once.
    public let groups: [String]

    /// The user somebody has proved to be.
    ///
    /// - Parameter identity: The proof.
    public init(_ identity: AuthenticatedIdentity) {
        self.init(realm: identity.realm, username: identity.username, groups: identity.groups)
    }

    /// A user whose proof was seen before: for stores, explanations and tests.
    package init(realm: String, username: Username, groups: [String]) {
        self.realm = realm
        self.username = username
        self.groups = groups
    }

    /// Whether the user is a member of a group.
    ///
    /// - Parameter group: The group's name; upper and lower case differ.
    /// - Returns: True if it is one of ``groups``, byte by byte.
    public func isMember(of group: String) -> Bool {
        groups.contains { $0.utf8.elementsEqual(group.utf8) }
    }
}
