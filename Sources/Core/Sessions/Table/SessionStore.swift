// SPDX-License-Identifier: Apache-2.0

package import RealmKit

/// A store that keeps sessions over a restart, and through which other programs can list and end sessions.
///
/// The sessions in the memory of the ``SessionTable`` are authoritative. All methods may be called concurrently. When a
/// method returns, its change is complete and durable.
package protocol SessionStore: Sendable {
    /// Reads a consistent snapshot of the sessions; throws when the store cannot be read.
    func loadSessions() async throws(SessionStoreError) -> SessionSnapshot

    func saveSession(_ session: SessionRecord) async throws(SessionStoreError)

    /// Stores the times of at most ``SessionTouch/batch`` sessions that were used; those that are not stored are ignored.
    ///
    /// If it throws, nothing was written, and the table tries again.
    func touchSessions(_ touches: [SessionTouch]) async throws(SessionStoreError)

    /// Removes at most ``SessionTouch/batch`` sessions; those that are not stored are ignored.
    ///
    /// If it throws, nothing was written, and the table tries again.
    func removeSessions(_ ids: [SessionID]) async throws(SessionStoreError)

    /// Records that at most ``SessionTouch/batch`` sessions have ended.
    ///
    /// The table calls this method if ``removeSessions(_:)`` fails or takes too long. The store must keep these records
    /// apart from the sessions, for example in a second file, because the place of the sessions may not be writable.
    /// ``loadSessions()`` does not return these sessions, and their removal deletes their records.
    func recordEnded(_ ids: [SessionID]) async throws(SessionStoreError)

    /// Reads the commands that were stored after the last one that the caller has read, in order.
    ///
    /// The call confirms that this command and those before it are carried out, so the store may remove them.
    func sessionCommands(after number: Int) async throws(SessionStoreError) -> [SessionCommand]

    /// Stores a command for a running server, and returns the number of stored sessions that it selects; called by
    /// programs other than the server.
    ///
    /// The store also removes the sessions that the command ends, so that a server that starts later does not restore
    /// them.
    func storeCommand(_ action: SessionCommand.Action) async throws(SessionStoreError) -> Int
}

/// The content of a store.
package struct SessionSnapshot: Sendable {
    /// The sessions, in no order.
    package var sessions: [SessionRecord]
    /// The sessions whose end is recorded but that are not removed yet; ``sessions`` does not contain them.
    package var ended: [SessionID]
    /// The number of the last command; 0 if there was no command.
    package var lastCommand: Int

    package init(sessions: [SessionRecord] = [], ended: [SessionID] = [], lastCommand: Int = 0) {
        self.sessions = sessions
        self.ended = ended
        self.lastCommand = lastCommand
    }
}

/// A command about sessions that another program has stored for a running server.
package struct SessionCommand: Sendable, Hashable {
    /// The maximum length of a message, in bytes of UTF-8.
    package static let maximumMessageBytes = 1000

    package enum Action: Sendable, Hashable {
        case end(SessionSelection)
        /// Sends a message to the users of sessions.
        case message(SessionSelection, String)
    }

    /// The number of the command, one more than that of the previous command; never reused.
    package let number: Int
    package let action: Action

    package init(number: Int, action: Action) {
        self.number = number
        self.action = action
    }
}

/// The sessions that a command applies to.
package enum SessionSelection: Sendable, Hashable {
    case one(SessionID)
    case user(realm: String, name: Username)
    case realm(String)
    case all

    package func includes(_ id: SessionID, of user: SignedInUser) -> Bool {
        switch self {
        case .one(let one): one == id
        case .user(let realm, let name): realm.utf8.elementsEqual(user.realm.utf8) && name == user.username
        case .realm(let realm): realm.utf8.elementsEqual(user.realm.utf8)
        case .all: true
        }
    }
}

/// An error of a store that cannot be read or written.
package struct SessionStoreError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The message for the log.
    package let message: String

    package init(_ message: String) { self.message = message }

    package var description: String { message }
}
