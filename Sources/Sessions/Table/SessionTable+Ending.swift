// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import OpenSSLKit
public import RealmKit
internal import Synchronization

extension SessionTable {
    /// The longest time for removing a session from the store, and again for recording its end elsewhere.
    static let timeLimit = Duration.seconds(2)

    /// Ends a session: at once for every request, and durably when this returns.
    ///
    /// - Parameters:
    ///   - session: The session; if it has ended already, only its removal from the store is repeated.
    ///   - cause: The cause.
    /// - Throws: ``SessionFault``: `unavailable` if the session could not be removed from the store, nor its end be
    ///   recorded, within four seconds. It has ended nevertheless, and its removal is repeated every second. If the
    ///   process ends before it succeeds, the session is valid again after a restart.
    public func end(_ session: Session, cause: SessionEnd) async throws(SessionFault) {
        try await end([session], cause: cause)
    }

    /// Ends sessions: at once for every request, and durably when this returns.
    ///
    /// - Parameters:
    ///   - sessions: The sessions; for those that have ended already, only the removal from the store is repeated.
    ///   - cause: The cause.
    /// - Throws: ``SessionFault`` as for one session, if it applies to any of them.
    public func end(_ sessions: [Session], cause: SessionEnd) async throws(SessionFault) {
        let effects = state.withLock { state in
            var effects = TableEffects()
            for session in sessions { effects.end(session, cause: cause, in: &state) }
            return effects
        }
        publish(effects)
        try await removeStored(sessions.map(\.id))
    }

    /// Ends sessions in memory at once, also those that running logins begin later; the store is updated within a
    /// second.
    ///
    /// - Parameters:
    ///   - cause: The cause.
    ///   - matches: Returns true for a session that is to end. It is called now, and later with the sessions of logins that
    ///     began before now. It must not call the table.
    public func end(_ cause: SessionEnd, where matches: @escaping @Sendable (Session) -> Bool) {
        let effects = state.withLock { state in
            state.revocations.revoke(where: matches)
            var effects = TableEffects()
            for session in state.entries.values.map(\.session) where matches(session) {
                effects.end(session, cause: cause, in: &state)
            }
            return effects
        }
        publish(effects)
    }

    /// Returns the ended session of a token, if it may be valid again after a restart because its end is not stored.
    ///
    /// - Parameters:
    ///   - token: The token that was presented.
    ///   - host: The host it was presented at.
    /// - Returns: The session, to be ended once more; nil if there is none.
    public func unsettledEnd(_ token: OpaqueToken, at host: SessionHost) -> Session? {
        let digest: Digest
        do throws(OpenSSLError) {
            digest = try token.digest()
        } catch {
            return nil
        }
        guard let session = state.withLock({ $0.writes.unsettled(digest) }), session.host == host else { return nil }
        return session
    }

    /// Returns a user's ended sessions that may be valid again after a restart because their ends are not stored.
    ///
    /// - Parameter user: The user; the groups do not matter.
    /// - Returns: The sessions, to be ended once more, in no order.
    public func unsettledEnds(of user: SignedInUser) -> [Session] {
        state.withLock { $0.writes.unsettled(of: SessionOwner(user)) }
    }

    /// Removes sessions from the store, or records their ends elsewhere.
    ///
    /// - Throws: ``SessionFault``: `unavailable` if neither is done within ``timeLimit`` each.
    func removeStored(_ ids: [SessionID]) async throws(SessionFault) {
        guard store != nil, !areSettled(ids) else { return }
        // It runs in a separate task, as the caller's may be cancelled: a client that has disconnected has still signed
        // out.
        let isSettled = await Task { [self] in
            // A slow removal continues, and a failed one is tried again every second.
            _ = await TimeLimitedWait.value(of: removal(of: ids), within: Self.timeLimit, clock: clocks.clock)
            if areSettled(ids) { return true }
            let noting = Task {
                for batch in SessionTouch.batches(ids) {
                    guard await note(batch) else { return false }
                }
                return true
            }
            return await TimeLimitedWait.value(of: noting, within: Self.timeLimit, clock: clocks.clock) == true
        }.value
        guard isSettled else { throw SessionFault(.unavailable, "the end of a session could not be stored") }
    }

    private func areSettled(_ ids: [SessionID]) -> Bool { state.withLock { $0.writes.unnoted(ids).isEmpty } }

    /// The task that removes sessions from the store.
    ///
    /// One removal runs at a time; ids that are added meanwhile are removed together by the next one. So a slow store
    /// does not get a write for each end.
    func removal(of ids: [SessionID]) -> Task<SessionStoreError?, Never> {
        removals.withLock { queue in
            queue.ids.formUnion(ids)
            if let next = queue.next { return next }
            let before = queue.running
            let task = Task { [self] in
                _ = await before?.value
                let ids = removals.withLock { $0.start() }
                return await remove(ids)
            }
            queue.next = task
            return task
        }
    }

    private func remove(_ ids: [SessionID]) async -> SessionStoreError? {
        var fault: SessionStoreError?
        for batch in SessionTouch.batches(ids) {
            do throws(SessionStoreError) {
                try await store?.removeSessions(batch)
                state.withLock { $0.writes.hasRemoved(batch) }
            } catch {
                fault = error
            }
        }
        return fault
    }

    /// Records the ends of those sessions of a batch that are neither removed nor recorded.
    func note(_ batch: [SessionID]) async -> Bool {
        let ids = state.withLock { $0.writes.unnoted(batch) }
        guard !ids.isEmpty else { return true }
        do throws(SessionStoreError) {
            try await store?.noteEnded(ids)
        } catch {
            return false
        }
        state.withLock { $0.writes.hasNoted(ids) }
        return true
    }
}

/// The removal that is running, and the next one.
struct RemovalQueue: Sendable {
    var running: Task<SessionStoreError?, Never>?
    var next: Task<SessionStoreError?, Never>?
    /// The sessions of the next one.
    var ids: Set<SessionID> = []

    /// Makes the next removal the running one.
    ///
    /// - Returns: Its sessions.
    mutating func start() -> [SessionID] {
        (running, next) = (next, nil)
        defer { ids = [] }
        return Array(ids)
    }
}

extension SessionTouch {
    /// Divides ids into batches for a store.
    static func batches(_ ids: [SessionID]) -> [[SessionID]] {
        stride(from: 0, to: ids.count, by: batch).map { Array(ids[$0..<min($0 + batch, ids.count)]) }
    }
}
