// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import OpenSSLKit

/// The changes that are not stored yet.
struct SessionWriteQueue: Sendable {
    /// A removal of a session from the store.
    private struct Removal {
        /// The session and the digest of its token; nil if no client has the token.
        var known: (session: Session, token: Digest)?
        /// True if the end is recorded elsewhere.
        ///
        /// The session is then not valid again after a restart.
        var isRecorded = false
    }

    let hasStore: Bool
    /// The number of the last command that was carried out.
    var lastCommand = 0
    /// The sessions that must be removed from the store.
    private var removals: [SessionID: Removal] = [:]
    /// The removals that are not durable yet, by the digest of the token.
    ///
    /// These sessions may be valid after a restart.
    private var byToken: [Digest: SessionID] = [:]
    /// The same removals by the user.
    private var byOwner: [SessionOwner: Set<SessionID>] = [:]
    /// The sessions whose times must be stored.
    private var touched: [Session] = []
    /// The difference between the wall clock and the monotonic clock at the last write of times, in seconds.
    private var offset: Int?

    init(hasStore: Bool) { self.hasStore = hasStore }

    /// The sessions that must be removed from the store, in no order.
    var due: [SessionID] { Array(removals.keys) }

    /// Adds the removal of a session whose token no client has.
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

    /// Returns the given ids without the sessions that are removed from the store or whose end is recorded.
    func unrecorded(_ ids: [SessionID]) -> [SessionID] { ids.filter { removals[$0]?.isRecorded == false } }

    /// Returns the ended session of a token, if its end is not stored.
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
    /// All stored times are wrong then.
    mutating func wallClockWasSet(at now: UInt64, wall: Int) -> Bool {
        let offset = wall - Int(clamping: now / 1_000_000_000)
        defer { self.offset = offset }
        return self.offset.map { abs(offset - $0) > 2 } ?? false
    }
}
