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
        self.init(
            realm: identity.realm,
            username: identity.username,
            groups: identity.groups,
            attributes: identity.attributes
        )
    }

    /// Creates a user without an ``AuthenticatedIdentity``, for stores, explanations and tests.
    package init(realm: String, username: Username, groups: [String], attributes: [UserAttribute] = []) {
        self.realm = realm
        self.username = username
        self.groups = groups
        self.attributes = attributes
        order =
            groups.count <= Self.linearCount
            ? []
            : groups.indices.sorted { Self.difference(groups[$0], groups[$1]) < 0 }
                .map { Int32(truncatingIfNeeded: $0) }
    }

    /// Returns whether the user is a member of a group.
    public func isMember(of group: String) -> Bool {
        guard !order.isEmpty else { return groups.contains { $0.hasBytes(of: group) } }
        var range = order.indices
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            let difference = Self.difference(groups[Int(order[middle])], group)
            if difference == 0 { return true }
            range = difference < 0 ? (middle + 1)..<range.upperBound : range.lowerBound..<middle
        }
        return false
    }

    /// Returns a number below 0 if the bytes of a name precede those of another, and 0 if they are equal.
    private static func difference(_ name: String, _ other: String) -> Int {
        let (bytes, others) = (name.utf8Span.span, other.utf8Span.span)
        for index in 0..<min(bytes.count, others.count) where bytes[index] != others[index] {
            return Int(bytes[index]) - Int(others[index])
        }
        return bytes.count - others.count
    }
}
