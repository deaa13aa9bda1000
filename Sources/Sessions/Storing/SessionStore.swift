// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import OpenSSLKit

/// Where a table of sessions keeps what has to survive a restart, and where another program can list and end them.
///
/// The table's memory decides. Methods may be called at any time, several at once. What a method has done is there for good
/// when it returns, and is there as a whole or not at all.
public protocol SessionStore: Sendable {
    /// Everything that is kept.
    ///
    /// - Returns: The sessions, and the number of the last order, as they were at one moment.
    /// - Throws: ``SessionStoreError`` when nothing could be read.
    func loadSessions() async throws(SessionStoreError) -> SessionSnapshot

    /// Keeps a new session.
    ///
    /// - Parameter session: The session.
    /// - Throws: ``SessionStoreError`` when it is not kept.
    func saveSession(_ session: SessionRecord) async throws(SessionStoreError)

    /// Has a session be found by another token; nothing happens to one that is not there.
    ///
    /// - Parameters:
    ///   - id: The session.
    ///   - token: What is kept of the new token.
    /// - Throws: ``SessionStoreError`` when nothing was written.
    func renewSession(_ id: SessionID, token: Digest) async throws(SessionStoreError)

    /// Takes note of when sessions were used; nothing happens to those that are not there.
    ///
    /// - Parameter touches: At most ``SessionTouch/batch`` of them.
    /// - Throws: ``SessionStoreError`` when nothing was written; they come again.
    func touchSessions(_ touches: [SessionTouch]) async throws(SessionStoreError)

    /// Forgets sessions; nothing happens to those that are not there.
    ///
    /// - Parameter ids: At most ``SessionTouch/batch`` of them.
    /// - Throws: ``SessionStoreError`` when nothing was written; they come again.
    func removeSessions(_ ids: [SessionID]) async throws(SessionStoreError)

    /// The orders that were given after another.
    ///
    /// - Parameter number: The number of the last one that is known.
    /// - Returns: The later ones that are still known, in order.
    /// - Throws: ``SessionStoreError`` when nothing could be read.
    func sessionOrders(after number: Int) async throws(SessionStoreError) -> [SessionOrder]

    /// Gives an order to a server that is running, for other programs.
    ///
    /// What is to end is removed here too, so that it does not come back where no server runs.
    ///
    /// - Parameter what: What is to be done.
    /// - Returns: How many of the sessions that are kept it concerns.
    /// - Throws: ``SessionStoreError`` when nothing was written.
    func orderSessions(_ what: SessionOrder.What) async throws(SessionStoreError) -> Int
}

/// What a store has kept.
public struct SessionSnapshot: Sendable {
    /// The sessions, in no order.
    public var sessions: [SessionRecord]
    /// The number of the last order; 0 if there was none.
    public var lastOrder: Int

    /// What a store has kept.
    ///
    /// - Parameters:
    ///   - sessions: The sessions, in no order.
    ///   - lastOrder: The number of the last order; 0 if there was none.
    public init(sessions: [SessionRecord] = [], lastOrder: Int = 0) {
        self.sessions = sessions
        self.lastOrder = lastOrder
    }
}

/// A store could not be read or written.
public struct SessionStoreError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What happened, for the log.
    public let message: String

    /// A fault.
    ///
    /// - Parameter message: What happened, for the log.
    public init(_ message: String) { self.message = message }

    /// What happened, for the log.
    public var description: String { message }
}
