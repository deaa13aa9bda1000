// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmKit

/// A user as the store has it.
public struct StoredUser: Sendable, Hashable {
    /// Name, groups and state.
    public let record: UserRecord
    /// The hash of the password; nil if there is none.
    public let hash: String?
}

/// What is looked up for one login.
public struct StoredLogin: Sendable {
    /// The user, without groups; nil if there is none of that name.
    public let user: StoredUser?
    /// The user's groups in one text: taking them apart would tell how many they are, so it waits for a right password.
    let joinedGroups: String
    /// A hash of every cost that users of the realm have, whoever's, by the name of the cost.
    public let costs: [(cost: String, hash: String)]

    /// What stands between groups; it is in no group's name.
    static let separator: Character = "\u{1F}"

    /// The user's groups.
    public var groups: [String] { joinedGroups.split(separator: Self.separator).map(String.init) }
}

/// A user who is to be added.
public struct UserRow: Sendable {
    let record: UserRecord
    let hash: String?
    let cost: String?

    /// A user.
    ///
    /// - Parameters:
    ///   - record: Name, groups and state.
    ///   - hash: The hash of the password.
    ///   - cost: What a check of the hash costs, in words that are the same for equal costs.
    public init(_ record: UserRecord, hash: String?, cost: String?) {
        self.record = record
        self.hash = hash
        self.cost = cost
    }
}
