// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Synchronization

extension SessionTable {
    /// Ends a session: it is gone from memory, and from the store if that can be written, when this returns.
    ///
    /// - Parameters:
    ///   - session: The session; of one that is over already the store is only asked once more to forget it.
    ///   - cause: Why.
    public func end(_ session: Session, _ cause: SessionEnd) async {
        let turn = state.withLock { state in
            var turn = Turn()
            turn.end(session, cause, &state)
            return turn
        }
        tell(turn)
        await forgetStored([session.id])
    }

    /// Ends some sessions in memory at once, and those of logins that are on their way; the store follows within a second.
    ///
    /// - Parameters:
    ///   - cause: Why.
    ///   - isMeant: Which ones; it is asked now and of logins that began before now. It must not ask the table for anything.
    public func end(_ cause: SessionEnd, where isMeant: @escaping @Sendable (Session) -> Bool) {
        let turn = state.withLock { state in
            state.endings.add(isMeant)
            var turn = Turn()
            for session in state.entries.values.map(\.session) where isMeant(session) {
                turn.end(session, cause, &state)
            }
            return turn
        }
        tell(turn)
    }

    /// Has the store forget sessions, now if it can.
    func forgetStored(_ ids: [SessionID]) async {
        guard let store, !ids.isEmpty else { return }
        // In a task that is not cancelled, as the caller's may be: a client that has gone has still signed out.
        await Task { [self] in
            do throws(SessionStoreError) {
                for start in stride(from: 0, to: ids.count, by: SessionTouch.batch) {
                    let batch = Array(ids[start..<min(start + SessionTouch.batch, ids.count)])
                    try await store.removeSessions(batch)
                    state.withLock { $0.behind.hasRemoved(batch) }
                }
            } catch {
                // They are among what the store is behind in: it is tried again, and told if it fails again.
            }
        }.value
    }
}
