// SPDX-License-Identifier: Apache-2.0

public import RealmKit

/// A command about sessions that another program has stored for a running server.
public struct SessionCommand: Sendable, Hashable {
    /// The maximum length of a message, in bytes of UTF-8.
    public static let maximumMessageBytes = 1000

    /// The action of a command, and the sessions that it applies to.
    public enum Action: Sendable, Hashable {
        /// Ends sessions.
        case end(SessionSelection)
        /// Sends a message to the users of sessions.
        case message(SessionSelection, String)
    }

    /// The number of the command: one more than the number of the previous command.
    ///
    /// A number is never reused.
    public let number: Int
    /// The action.
    public let action: Action

    /// A command.
    ///
    /// - Parameters:
    ///   - number: The number.
    ///   - action: The action.
    public init(number: Int, action: Action) {
        self.number = number
        self.action = action
    }
}

/// The sessions that a command applies to.
public enum SessionSelection: Sendable, Hashable {
    /// One session.
    case one(SessionID)
    /// All sessions of a user.
    case user(realm: String, name: Username)
    /// All sessions of a realm's users.
    case realm(String)
    /// All sessions.
    case all

    /// Returns whether a session is selected.
    ///
    /// - Parameters:
    ///   - id: The session.
    ///   - user: The session's user.
    /// - Returns: True if the session is selected.
    public func includes(_ id: SessionID, of user: SignedInUser) -> Bool {
        switch self {
        case .one(let one): one == id
        case .user(let realm, let name): realm.utf8.elementsEqual(user.realm.utf8) && name == user.username
        case .realm(let realm): realm.utf8.elementsEqual(user.realm.utf8)
        case .all: true
        }
    }
}
