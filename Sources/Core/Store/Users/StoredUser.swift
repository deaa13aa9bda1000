// SPDX-License-Identifier: Apache-2.0

public import RealmKit

/// A user in the store.
public struct StoredUser: Sendable, Hashable {
    /// The name, the groups and the state of the user.
    public let record: UserRecord
    /// The hash of the password; nil for a user without a password.
    public let hash: String?
}

/// The data for one login.
public struct StoredLogin: Sendable {
    /// The user, without groups; nil if no user has that name.
    public let user: StoredUser?
    /// The user's groups, joined in one text.
    ///
    /// The time for splitting it reveals the number of groups, so it is split only after a successful check.
    let joinedGroups: String
    /// The user's attributes, joined in one text for the same reason: names and values.
    let joinedAttributes: String
    /// For each cost in the realm, the text of the cost and one hash.
    ///
    /// The hash may belong to any user of the realm.
    public let costs: [(cost: String, hash: String)]

    /// The separator of groups and of values.
    ///
    /// Names of groups and values of attributes never contain it.
    static let separator: Character = "\u{1F}"
    /// The separator of the name and the value of an attribute.
    static let nameSeparator: Character = "\u{1E}"

    /// The user's groups.
    public var groups: [String] { joinedGroups.split(separator: Self.separator).map(String.init) }

    /// The user's attributes.
    public var attributes: [UserAttribute] {
        var values: [(attribute: String, value: String)] = []
        for entry in joinedAttributes.split(separator: Self.separator) {
            let parts = entry.split(separator: Self.nameSeparator, maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { values.append((String(parts[0]), String(parts[1]))) }
        }
        return GatehouseStore.attributes(values)
    }
}

/// A user to be added.
public struct UserRow: Sendable {
    let record: UserRecord
    let hash: String?
    let cost: String?
    let place: String?

    /// Creates a row.
    ///
    /// - Parameters:
    ///   - record: The name, the groups and the state of the user.
    ///   - hash: The hash of the password.
    ///   - cost: The text of the cost of the hash. Equal costs have the same text.
    ///   - place: The place of the user in a file, for messages.
    public init(_ record: UserRecord, hash: String?, cost: String?, place: String? = nil) {
        self.record = record
        self.hash = hash
        self.cost = cost
        self.place = place
    }
}
