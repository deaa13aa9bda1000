// SPDX-License-Identifier: Apache-2.0

package import RealmKit
internal import Synchronization

extension SessionTable {
    /// The time limit for removing a session from the store, and for recording its end elsewhere.
    static let timeLimit = Duration.seconds(2)

    /// Ends a session, as ``end(_:cause:)`` ends several.
    package func end(_ session: Session, cause: SessionEndCause) async throws(SessionFault) {
        try await end([session], cause: cause)
    }

    /// Ends sessions and their child sessions; the end of a child session does not end its parent.
    ///
    /// The ends take effect for all requests at once, and are durable when this function returns. If a session has already
    /// ended, only its removal from the store is repeated.
    ///
    /// - Throws: ``SessionFault`` with the code `unavailable` if, within four seconds, a session was not removed from
    ///   the store and its end was not recorded elsewhere. The session has ended even then, and its removal is repeated
    ///   every second. If the process stops before a removal succeeds, the session is valid again after a restart.
    package func end(_ sessions: [Session], cause: SessionEndCause) async throws(SessionFault) {
        publish(state.withLock { $0.end(sessions, cause: cause) })
        try await removeStored(sessions.map(\.id))
    }

    /// Ends sessions in memory at once, and in the store within a second.
    ///
    /// Matching sessions of logins that are now running do not begin: `matches` is called for all sessions now, and for the
    /// session of a running login when that session would begin. It must not call the table.
    package func end(_ cause: SessionEndCause, where matches: @escaping @Sendable (Session) -> Bool) {
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

    /// Returns the session of a token presented at a host, if the session has ended but the end is not stored.
    ///
    /// After a restart, such a session may be valid again, so the caller can end it again.
    package func unstoredEnd(_ token: OpaqueToken, at host: SessionHost) -> Session? {
        guard let digest = try? token.digest(), let session = state.withLock({ $0.writes.unstored(digest) }),
            session.host == host
        else { return nil }
        return session
    }

    /// Returns the ended sessions of a user's sign-ins whose ends are not stored, in no order; the groups do not matter.
    package func unstoredEnds(of user: SignedInUser) -> [Session] {
        let owner = SessionOwner(user)
        return state.withLock {
            Array($0.writes.unstored.filter { $0.parent == nil && SessionOwner($0.user) == owner })
        }
    }

    /// Removes sessions from the store, or records their ends elsewhere; each attempt may take ``timeLimit``.
    func removeStored(_ ids: [SessionID]) async throws(SessionFault) {
        guard store != nil, !areDurable(ids) else { return }
        // A separate task: that of the caller is cancelled if the client disconnects, but the sign-out must complete.
        let isDurable = await Task.immediate { [self] in
            // A removal is not cancelled at the time limit. A failed removal is repeated every second.
            _ = await TimeLimitedWait.value(of: removal(of: ids), within: Self.timeLimit, clock: clocks.clock)
            if areDurable(ids) { return true }
            let recording = Task {
                for batch in SessionTouch.batches(ids) {
                    guard await recordEnds(of: batch) else { return false }
                }
                return true
            }
            return await TimeLimitedWait.value(of: recording, within: Self.timeLimit, clock: clocks.clock) == true
        }.value
        guard isDurable else { throw SessionFault(.unavailable, "the end of a session could not be stored") }
    }

    private func areDurable(_ ids: [SessionID]) -> Bool { state.withLock { $0.writes.unrecorded(ids).isEmpty } }

    /// Returns a task that removes sessions from the store.
    ///
    /// One removal runs at a time, and the next collects the ids added meanwhile, so a slow store gets few writes.
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
                state.withLock { $0.writes.markRemoved(batch) }
            } catch {
                fault = error
            }
        }
        return fault
    }

    /// Records the ends of the sessions that are neither recorded nor removed.
    func recordEnds(of batch: [SessionID]) async -> Bool {
        let ids = state.withLock { $0.writes.unrecorded(batch) }
        guard !ids.isEmpty else { return true }
        do throws(SessionStoreError) {
            try await store?.recordEnded(ids)
        } catch {
            return false
        }
        state.withLock { $0.writes.markRecorded(ids) }
        return true
    }
}

struct RemovalQueue: Sendable {
    var running: Task<SessionStoreError?, Never>?
    var next: Task<SessionStoreError?, Never>?
    /// The sessions of the next removal.
    var ids: Set<SessionID> = []

    /// Starts the next removal, and returns its sessions.
    mutating func start() -> [SessionID] {
        (running, next) = (next, nil)
        defer { ids = [] }
        return Array(ids)
    }
}

extension SessionTouch {
    static func batches(_ ids: [SessionID]) -> [[SessionID]] {
        stride(from: 0, to: ids.count, by: batch).map { Array(ids[$0..<min($0 + batch, ids.count)]) }
    }
}
