// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLKit

/// The changes that are not stored yet.
struct SessionWriteQueue: Sendable {
    /// A removal of a session from the store.
    private struct Removal {
        /// The session and the digest of its token; nil if the token was never sent to a client.
        var known: (session: Session, token: Digest)?
        /// True if ``SessionStore`` has recorded the end of the session, so that a restart does not restore the session.
        var isRecorded = false
    }

    let hasStore: Bool
    /// The number of the last command that was carried out.
    var lastCommand = 0
    /// The sessions that must be removed from the store.
    private var removals: [SessionID: Removal] = [:]
    /// The sessions that have ended but are neither removed from the store nor recorded as ended, by the digest of the
    /// token.
    ///
    /// A restart would restore them.
    private var byToken: [Digest: SessionID] = [:]
    /// The same removals, by the owner of the session.
    private var byOwner: [SessionOwner: Set<SessionID>] = [:]
    /// The sessions whose times must be stored.
    private var touched: [Session] = []
    /// The difference between the wall clock and the monotonic clock at the last write of times, in seconds.
    private var offset: Int?

    init(hasStore: Bool) { self.hasStore = hasStore }

    /// The sessions that must be removed from the store, in no order.
    var due: [SessionID] { Array(removals.keys) }

    /// Adds the removal of a session whose token was never sent to a client.
    mutating func remove(_ id: SessionID) {
        if hasStore, removals[id] == nil { removals[id] = Removal() }
    }

    /// Adds the removal of an ended session.
    mutating func remove(_ session: Session, token: Digest) {
        guard hasStore else { return }
        removals[session.id] = Removal(known: (session, token))
        byToken[token] = session.id
        byOwner[SessionOwner(session.user), default: []].insert(session.id)
    }

    mutating func markRemoved(_ ids: [SessionID]) {
        for id in ids {
            removeFromIndexes(id)
            removals[id] = nil
        }
    }

    mutating func markRecorded(_ ids: [SessionID]) {
        for id in ids {
            removeFromIndexes(id)
            removals[id]?.isRecorded = true
        }
    }

    private mutating func removeFromIndexes(_ id: SessionID) {
        guard let (session, token) = removals[id]?.known else { return }
        byToken[token] = nil
        let owner = SessionOwner(session.user)
        byOwner[owner]?.remove(id)
        if byOwner[owner]?.isEmpty == true { byOwner[owner] = nil }
    }

    /// Returns the ids of the sessions that are still stored and whose ends are not recorded.
    func unrecorded(_ ids: [SessionID]) -> [SessionID] { ids.filter { removals[$0]?.isRecorded == false } }

    /// Returns the session of a token if the session has ended but the end is not stored.
    func unstored(_ token: Digest) -> Session? { byToken[token].flatMap { removals[$0]?.known?.session } }

    /// Returns the ended sessions of a user whose ends are not stored.
    func unstored(of owner: SessionOwner) -> [Session] {
        byOwner[owner].map { $0.compactMap { removals[$0]?.known?.session } } ?? []
    }

    mutating func touch(_ session: Session) {
        if hasStore { touched.append(session) }
    }

    /// Removes and returns the sessions whose times must be stored.
    mutating func takeTouched() -> [Session] {
        let taken = touched
        touched = []
        for session in taken { session.clearTouched() }
        return taken
    }

    /// Returns true if the wall clock was set since the last write.
    ///
    /// In this case all stored times are wrong.
    mutating func wallClockWasSet(at now: UInt64, wall: Int) -> Bool {
        let offset = wall - Int(clamping: now / 1_000_000_000)
        defer { self.offset = offset }
        return self.offset.map { abs(offset - $0) > 2 } ?? false
    }
}
