// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLKit

/// The changes that are not stored yet.
struct SessionWriteQueue: Sendable {
    private struct Removal {
        /// Nil if the token was never sent to a client.
        var known: (session: Session, token: Digest)?
        /// True if ``SessionStore`` has recorded the end, so that a restart does not restore the session.
        var isRecorded = false
    }

    let hasStore: Bool
    /// The number of the last command that was carried out.
    var lastCommand = 0
    /// The sessions that must be removed from the store.
    private var removals: [SessionID: Removal] = [:]
    /// The ended sessions that a restart would restore, because they are neither removed nor recorded as ended.
    private var byToken: [Digest: SessionID] = [:]
    /// The same removals, by the owner of the session.
    private var byOwner: [SessionOwner: Set<SessionID>] = [:]
    private var touched: [Session] = []
    /// The difference between the wall clock and the monotonic clock at the last write of times, in seconds.
    private var offset: Int?

    init(hasStore: Bool) { self.hasStore = hasStore }

    var due: [SessionID] { Array(removals.keys) }

    /// Adds the removal of a session whose token was never sent to a client.
    mutating func remove(_ id: SessionID) {
        if hasStore, removals[id] == nil { removals[id] = Removal() }
    }

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

    func unrecorded(_ ids: [SessionID]) -> [SessionID] { ids.filter { removals[$0]?.isRecorded == false } }

    func unstored(_ token: Digest) -> Session? { byToken[token].flatMap { removals[$0]?.known?.session } }

    func unstored(of owner: SessionOwner) -> [Session] {
        byOwner[owner].map { $0.compactMap { removals[$0]?.known?.session } } ?? []
    }

    mutating func touch(_ session: Session) {
        if hasStore { touched.append(session) }
    }

    mutating func takeTouched() -> [Session] {
        let taken = touched
        touched = []
        for session in taken { session.clearTouched() }
        return taken
    }

    /// Returns whether the wall clock was set since the last write, so that all stored times are wrong.
    mutating func wallClockWasSet(at now: UInt64, wall: Int) -> Bool {
        let offset = wall - Int(clamping: now / 1_000_000_000)
        defer { self.offset = offset }
        return self.offset.map { abs(offset - $0) > 2 } ?? false
    }
}
