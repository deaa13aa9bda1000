// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// A user whom a realm has accepted, just now or at the beginning of a session.
///
/// Access rules are checked against this user. The value is created from an ``AuthenticatedIdentity``, or restored from
/// a store.
public struct SignedInUser: Sendable, Hashable {
    /// The name of the realm that accepted the user.
    public let realm: String
    /// The user name, as the realm spells it.
    public let username: Username
    /// The names of all groups, each once.
    public let groups: [String]
    /// The user's attributes at the sign-in, each name once.
    public let attributes: [UserAttribute]
    /// The indices of ``groups``, sorted by the bytes of the names; empty if the groups are few.
    private let order: [Int32]

    /// The largest number of groups that are compared one by one.
    private static let linearCount = 8

    /// Creates the user of an identity.
    public init(_ identity: AuthenticatedIdentity) {
        let subject = identity.subject
        self.init(
            realm: identity.realm,
            username: identity.username,
            groups: subject.groups,
            attributes: subject.attributes
        )
    }

    /// Creates a user without an ``AuthenticatedIdentity``, for stores, verified answers of a server, explanations and tests.
    package init(realm: String, username: Username, groups: [String], attributes: [UserAttribute] = []) {
        self.realm = realm
        self.username = username
        self.groups = groups
        self.attributes = attributes
        order =
            groups.count <= Self.linearCount
            ? []
            : groups.indices.sorted { groups[$0].utf8.lexicographicallyPrecedes(groups[$1].utf8) }
                .map { Int32(truncatingIfNeeded: $0) }
    }

    /// Returns whether the user is a member of a group.
    public func isMember(of group: String) -> Bool {
        guard !order.isEmpty else { return groups.contains { $0.hasBytes(of: group) } }
        let place = order.partitioningIndex { !groups[Int($0)].utf8.lexicographicallyPrecedes(group.utf8) }
        return place < order.endIndex && groups[Int(order[place])].hasBytes(of: group)
    }
}
