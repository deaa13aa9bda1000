// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import OpenSSLKit

/// The changes that are not in the store yet.
struct SessionWriteQueue: Sendable {
    /// A session that the store is to remove.
    private struct Removal {
        /// The session and the digest of its token; nil for a session whose token was never given out.
        var known: (session: Session, token: Digest)?
        /// True if its end is recorded elsewhere, so that it is not valid again after a restart.
        var isNoted = false
    }

    let isStored: Bool
    /// The last command that was carried out.
    var lastCommand = 0
    /// The sessions that the store is to remove.
    private var removals: [SessionID: Removal] = [:]
    /// Those of them that may be valid again after a restart, by the digests of their tokens and by their users.
    private var byToken: [Digest: SessionID] = [:]
    private var byOwner: [SessionOwner: Set<SessionID>] = [:]
    /// The sessions that were used.
    private var touched: [Session] = []
    /// The difference between the wall clock and the monotonic clock, in seconds, when times were last stored.
    private var offset: Int?

    init(isStored: Bool) { self.isStored = isStored }

    /// The sessions that the store is to remove, in no order.
    var due: [SessionID] { Array(removals.keys) }

    /// Adds a session whose token was never given out to those that the store is to remove.
    mutating func remove(_ id: SessionID) {
        if isStored, removals[id] == nil { removals[id] = Removal() }
    }

    /// Adds an ended session to those that the store is to remove.
    mutating func remove(_ session: Session, token: Digest) {
        guard isStored else { return }
        removals[session.id] = Removal(known: (session, token))
        byToken[token] = session.id
        byOwner[SessionOwner(session.user), default: []].insert(session.id)
    }

    mutating func hasRemoved(_ ids: [SessionID]) {
        for id in ids {
            settle(id)
            removals[id] = nil
        }
    }

    mutating func hasNoted(_ ids: [SessionID]) {
        for id in ids {
            settle(id)
            removals[id]?.isNoted = true
        }
    }

    private mutating func settle(_ id: SessionID) {
        guard let (session, token) = removals[id]?.known else { return }
        byToken[token] = nil
        let owner = SessionOwner(session.user)
        byOwner[owner]?.remove(id)
        if byOwner[owner]?.isEmpty == true { byOwner[owner] = nil }
    }

    /// Returns those of some sessions that may be valid again after a restart.
    func unnoted(_ ids: [SessionID]) -> [SessionID] { ids.filter { removals[$0]?.isNoted == false } }

    /// Returns the ended session of a token, if it may be valid again after a restart.
    func unsettled(_ token: Digest) -> Session? { byToken[token].flatMap { removals[$0]?.known?.session } }

    /// Returns the ended sessions of a user that may be valid again after a restart.
    func unsettled(of owner: SessionOwner) -> [Session] {
        byOwner[owner].map { $0.compactMap { removals[$0]?.known?.session } } ?? []
    }

    mutating func touch(_ session: Session) {
        if isStored { touched.append(session) }
    }

    /// Removes and returns the sessions whose times are to be stored.
    mutating func takeTouched() -> [Session] {
        let taken = touched
        touched = []
        for session in taken { session.clearTouch() }
        return taken
    }

    /// Returns whether the wall clock was set since times were last stored, so that all of them have to be stored anew.
    mutating func hasShifted(at now: UInt64, wall: Int) -> Bool {
        let offset = wall - Int(clamping: now / 1_000_000_000)
        defer { self.offset = offset }
        return self.offset.map { abs(offset - $0) > 2 } ?? false
    }
}
