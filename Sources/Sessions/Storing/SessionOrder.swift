// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmKit

/// What another program wants of a server's sessions.
public struct SessionOrder: Sendable, Hashable {
    /// The longest message, in bytes of UTF-8.
    public static let maximumMessageBytes = 1000

    /// What is to be done.
    public enum What: Sendable, Hashable {
        /// Sessions are to end.
        case end(SessionSelection)
        /// Something is to be said to their users.
        case message(SessionSelection, String)
    }

    /// Its number: one higher than that of the order before it, and never used again.
    public let number: Int
    /// What is to be done.
    public let what: What

    /// An order.
    ///
    /// - Parameters:
    ///   - number: Its number.
    ///   - what: What is to be done.
    public init(number: Int, _ what: What) {
        self.number = number
        self.what = what
    }
}

/// Which sessions are meant.
public enum SessionSelection: Sendable, Hashable {
    /// One.
    case one(SessionID)
    /// All of a user.
    case user(realm: String, name: Username)
    /// All of a realm's users.
    case realm(String)
    /// All.
    case all

    /// Whether a session is meant.
    ///
    /// - Parameters:
    ///   - id: The session.
    ///   - user: Whose it is.
    /// - Returns: True if it is.
    public func includes(_ id: SessionID, of user: SignedInUser) -> Bool {
        switch self {
        case .one(let one): one == id
        case .user(let realm, let name): realm.utf8.elementsEqual(user.realm.utf8) && name == user.username
        case .realm(let realm): realm.utf8.elementsEqual(user.realm.utf8)
        case .all: true
        }
    }
}
