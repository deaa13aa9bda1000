// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import OpenSSLKit
internal import RealmKit
internal import Synchronization

extension Session {
    /// The session as it is stored.
    func record(token: Digest) -> SessionRecord {
        let touch = touch
        return SessionRecord(
            id,
            token: token,
            user: user,
            client: client,
            created: created,
            lastSeen: touch.lastSeen,
            idleExpiry: touch.idleExpiry,
            absoluteExpiry: touch.absoluteExpiry,
            stamp: stamp
        )
    }

    /// Its times as they are stored.
    var touch: SessionTouch {
        SessionTouch(id: id, lastSeen: lastSeen, idleExpiry: idleExpiry, absoluteExpiry: absoluteExpiry)
    }
}

extension SessionTable {
    /// Carries out what other programs have ordered, and has the store forget what it is to forget.
    func settle() async throws(SessionStoreError) {
        guard let store else { return }
        let last = state.withLock { $0.behind.lastOrder }
        let orders = try await store.sessionOrders(after: last)
        if let first = orders.first, first.number > last + 1 {
            // Some are not known any more, and one of them may have been to end anything.
            end(.administrator) { _ in true }
        }
        for order in orders { carryOut(order.what) }
        if let last = orders.last { state.withLock { $0.behind.lastOrder = last.number } }
        let ids = state.withLock { Array($0.behind.removals) }
        for start in stride(from: 0, to: ids.count, by: SessionTouch.batch) {
            let batch = Array(ids[start..<min(start + SessionTouch.batch, ids.count)])
            try await store.removeSessions(batch)
            state.withLock { $0.behind.hasRemoved(batch) }
        }
    }

    private func carryOut(_ what: SessionOrder.What) {
        switch what {
        case .end(let selection): end(.administrator) { selection.includes($0.id, of: $0.user) }
        case .message(let selection, let text):
            for session in sessions where selection.includes(session.id, of: session.user) { send(text, to: session) }
        }
    }

    /// Stores when sessions were used.
    func storeTouches() async throws(SessionStoreError) {
        guard let store else { return }
        let (now, wall) = (clocks.now, clocks.wall.seconds)
        let touched = state.withLock { state in
            let touched = state.behind.takeTouched()
            return state.behind.hasShifted(now, wall: wall) ? state.entries.values.map(\.session) : touched
        }
        var rest = touched[...]
        while !rest.isEmpty {
            do throws(SessionStoreError) {
                try await store.touchSessions(rest.prefix(SessionTouch.batch).filter { $0.end == nil }.map(\.touch))
            } catch {
                let missed = rest
                state.withLock { state in
                    for session in missed where session.noteTouch() { state.behind.touch(session) }
                }
                throw error
            }
            rest = rest.dropFirst(SessionTouch.batch)
        }
    }
}
