// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmKit

/// A user in the store.
public struct StoredUser: Sendable, Hashable {
    /// Name, groups and state.
    public let record: UserRecord
    /// The hash of the password; nil if there is none.
    public let hash: String?
}

/// The data for one login.
public struct StoredLogin: Sendable {
    /// The user, without groups; nil if there is none of that name.
    public let user: StoredUser?
    /// The user's groups in one text.
    ///
    /// Splitting it takes time that reveals their number, so it is done after a successful check only.
    let joinedGroups: String
    /// A hash of every cost in the realm, of any user, with the name of the cost.
    public let costs: [(cost: String, hash: String)]

    /// The separator of groups, which no group's name contains.
    static let separator: Character = "\u{1F}"

    /// The user's groups.
    public var groups: [String] { joinedGroups.split(separator: Self.separator).map(String.init) }
}

/// A user to be added.
public struct UserRow: Sendable {
    let record: UserRecord
    let hash: String?
    let cost: String?

    /// Creates a row.
    ///
    /// - Parameters:
    ///   - record: Name, groups and state.
    ///   - hash: The hash of the password.
    ///   - cost: The cost of a check of the hash, as a text that is the same for equal costs.
    public init(_ record: UserRecord, hash: String?, cost: String?) {
        self.record = record
        self.hash = hash
        self.cost = cost
    }
}
