// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A store that keeps sessions over a restart, and through which other programs can list and end sessions.
///
/// The sessions in the memory of the ``SessionTable`` are authoritative. All methods may be called concurrently. When a
/// method returns, its change is complete and durable.
public protocol SessionStore: Sendable {
    /// Reads all stored sessions.
    ///
    /// - Returns: A consistent snapshot of the sessions and the number of the last command.
    /// - Throws: ``SessionStoreError`` when the store cannot be read.
    func loadSessions() async throws(SessionStoreError) -> SessionSnapshot

    /// Stores a new session.
    ///
    /// - Parameter session: The session.
    /// - Throws: ``SessionStoreError`` when the session is not stored.
    func saveSession(_ session: SessionRecord) async throws(SessionStoreError)

    /// Stores the times of sessions that were used.
    ///
    /// Sessions that are not stored are ignored.
    ///
    /// - Parameter touches: The times of at most ``SessionTouch/batch`` sessions.
    /// - Throws: ``SessionStoreError`` when nothing was written; the table tries again.
    func touchSessions(_ touches: [SessionTouch]) async throws(SessionStoreError)

    /// Removes sessions.
    ///
    /// Sessions that are not stored are ignored.
    ///
    /// - Parameter ids: The ids of at most ``SessionTouch/batch`` sessions.
    /// - Throws: ``SessionStoreError`` when nothing was written; the table tries again.
    func removeSessions(_ ids: [SessionID]) async throws(SessionStoreError)

    /// Records the ends of sessions that could not be removed in time.
    ///
    /// The ends are recorded in another place than the sessions, such as a second file.
    ///
    /// ``loadSessions()`` does not return these sessions. The record of an end is deleted when its session is removed.
    ///
    /// - Parameter ids: The ids of at most ``SessionTouch/batch`` sessions.
    /// - Throws: ``SessionStoreError`` when an end is not recorded.
    func recordEnded(_ ids: [SessionID]) async throws(SessionStoreError)

    /// Reads the commands with a higher number than the given one.
    ///
    /// - Parameter number: The number of the last command that the caller has read.
    /// - Returns: The later commands that are still stored, in order.
    /// - Throws: ``SessionStoreError`` when the store cannot be read.
    func sessionCommands(after number: Int) async throws(SessionStoreError) -> [SessionCommand]

    /// Stores a command for a running server.
    ///
    /// Other programs call this method.
    ///
    /// The sessions that the command ends are also removed. If no server is running, they are not restored later.
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
    /// The sessions whose end is recorded and that are not removed yet.
    ///
    /// ``sessions`` does not contain them.
    public var ended: [SessionID]
    /// The number of the last command; 0 if there was no command.
    public var lastCommand: Int

    /// The content of a store.
    ///
    /// - Parameters:
    ///   - sessions: The sessions, in no order.
    ///   - ended: The sessions whose end is recorded and that are not removed yet.
    ///   - lastCommand: The number of the last command; 0 if there was no command.
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
