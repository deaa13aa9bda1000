// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLKit

/// The changes that are not stored yet.
struct SessionWriteQueue: Sendable {
    private struct Removal {
        /// Nil if no client has the token.
        let session: Session?
        /// True if ``SessionStore`` has recorded the end, so that a restart does not restore the session.
        var isRecorded = false
    }

    let hasStore: Bool
    /// The number of the last command that was carried out.
    var lastCommand = 0
    /// The sessions that must be removed from the store.
    private var removals: [SessionID: Removal] = [:]
    /// The unstored ends by their tokens: any client can ask for one, and there are many if the store fails.
    private var byToken: [Digest: SessionID] = [:]
    /// The sessions whose times must be stored.
    private var touched: [SessionID: Session] = [:]
    /// The difference between the wall clock and the monotonic clock at the last write of times, in seconds.
    private var offset: Int?

    init(hasStore: Bool) { self.hasStore = hasStore }

    // MARK: Removals

    var due: [SessionID] { Array(removals.keys) }

    mutating func remove(_ session: Session) {
        guard hasStore else { return }
        removals[session.id] = Removal(session: session)
        byToken[session.token] = session.id
    }

    /// Adds the removal of a session whose token was never sent to a client.
    mutating func remove(_ id: SessionID) {
        if hasStore, removals[id] == nil { removals[id] = Removal(session: nil) }
    }

    mutating func markRemoved(_ ids: [SessionID]) {
        for id in ids {
            forgetToken(id)
            removals[id] = nil
        }
    }

    mutating func markRecorded(_ ids: [SessionID]) {
        for id in ids {
            forgetToken(id)
            removals[id]?.isRecorded = true
        }
    }

    private mutating func forgetToken(_ id: SessionID) {
        if let session = removals[id]?.session { byToken[session.token] = nil }
    }

    func unrecorded(_ ids: [SessionID]) -> [SessionID] { ids.filter { removals[$0]?.isRecorded == false } }

    func unstored(_ token: Digest) -> Session? { byToken[token].flatMap { removals[$0]?.session } }

    /// The ended sessions that a restart would restore: there are few, unless the store fails.
    var unstored: some Sequence<Session> { removals.values.lazy.filter { !$0.isRecorded }.compactMap(\.session) }

    // MARK: Times

    mutating func touch(_ session: Session) {
        if hasStore { touched[session.id] = session }
    }

    mutating func takeTouched() -> [Session] {
        defer { touched.removeAll(keepingCapacity: true) }
        return Array(touched.values)
    }

    /// Returns whether the wall clock was set since the last write, so that all stored times are wrong.
    mutating func wallClockWasSet(at now: UInt64, wall: Int) -> Bool {
        let offset = wall - Int(clamping: now / 1_000_000_000)
        defer { self.offset = offset }
        return self.offset.map { abs(offset - $0) > 2 } ?? false
    }
}
