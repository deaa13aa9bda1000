// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A store in which sessions survive a restart, and other programs can list and end them.
///
/// The sessions in the memory of the table are authoritative. Methods may be called at any time, several at once. When
/// a method returns, its change is durable and complete.
public protocol SessionStore: Sendable {
    /// Reads everything that is stored.
    ///
    /// - Returns: The sessions, and the number of the last command, as of one moment.
    /// - Throws: ``SessionStoreError`` when nothing could be read.
    func loadSessions() async throws(SessionStoreError) -> SessionSnapshot

    /// Stores a new session.
    ///
    /// - Parameter session: The session.
    /// - Throws: ``SessionStoreError`` when it is not stored.
    func saveSession(_ session: SessionRecord) async throws(SessionStoreError)

    /// Stores the times of sessions that were used; ids that are not stored are ignored.
    ///
    /// - Parameter touches: At most ``SessionTouch/batch`` of them.
    /// - Throws: ``SessionStoreError`` when nothing was written; the table tries again.
    func touchSessions(_ touches: [SessionTouch]) async throws(SessionStoreError)

    /// Removes sessions; ids that are not stored are ignored.
    ///
    /// - Parameter ids: At most ``SessionTouch/batch`` of them.
    /// - Throws: ``SessionStoreError`` when nothing was written; the table tries again.
    func removeSessions(_ ids: [SessionID]) async throws(SessionStoreError)

    /// Records the ends of sessions that could not be removed in time, in another place than the sessions.
    ///
    /// ``loadSessions()`` does not return these sessions. The record of an end is dropped when its session has been
    /// removed.
    ///
    /// - Parameter ids: At most ``SessionTouch/batch`` of them.
    /// - Throws: ``SessionStoreError`` when one is not recorded.
    func noteEnded(_ ids: [SessionID]) async throws(SessionStoreError)

    /// Reads the commands after another one.
    ///
    /// - Parameter number: The number of the last command that is known.
    /// - Returns: The later ones that are still stored, in order.
    /// - Throws: ``SessionStoreError`` when nothing could be read.
    func sessionCommands(after number: Int) async throws(SessionStoreError) -> [SessionCommand]

    /// Stores a command for a running server; called by other programs.
    ///
    /// Sessions that the command ends are also removed, so that they are not restored if no server runs now.
    ///
    /// - Parameter action: The action.
    /// - Returns: The number of stored sessions that the command selects.
    /// - Throws: ``SessionStoreError`` when nothing was written.
    func commandSessions(_ action: SessionCommand.Action) async throws(SessionStoreError) -> Int
}

/// The content of a store.
public struct SessionSnapshot: Sendable {
    /// The sessions, in no order.
    public var sessions: [SessionRecord]
    /// Sessions whose end is recorded and that are not removed yet; not among ``sessions``.
    public var ended: [SessionID]
    /// The number of the last command; 0 if there was none.
    public var lastCommand: Int

    /// The content of a store.
    ///
    /// - Parameters:
    ///   - sessions: The sessions, in no order.
    ///   - ended: Sessions whose end is recorded and that are not removed yet.
    ///   - lastCommand: The number of the last command; 0 if there was none.
    public init(sessions: [SessionRecord] = [], ended: [SessionID] = [], lastCommand: Int = 0) {
        self.sessions = sessions
        self.ended = ended
        self.lastCommand = lastCommand
    }
}

/// An error of a store that cannot be read or written.
public struct SessionStoreError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The message for the log.
    public let message: String

    /// An error.
    ///
    /// - Parameter message: The message for the log.
    public init(_ message: String) { self.message = message }

    /// The message for the log.
    public var description: String { message }
}
