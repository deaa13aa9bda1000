// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import OpenSSLKit
import RealmKit
import Sessions
import Synchronization

/// A store that forgets everything at the end of a test.
final class MemoryStore: SessionStore {
    private struct State {
        var records: [SessionID: SessionRecord] = [:]
        var orders: [SessionOrder] = []
        var touches = 0
        var isBroken = false
        var hold: (@Sendable () async -> Void)?
    }

    private let state = Mutex(State())

    var records: [SessionRecord] { state.withLock { Array($0.records.values) } }
    var touches: Int { state.withLock { $0.touches } }

    func breaks(_ isBroken: Bool) { state.withLock { $0.isBroken = isBroken } }
    func put(_ record: SessionRecord) { state.withLock { $0.records[record.id] = record } }
    func change(_ id: SessionID, _ change: (inout SessionRecord) -> Void) {
        state.withLock { state in
            guard var record = state.records[id] else { return }
            change(&record)
            state.records[id] = record
        }
    }

    /// Has whoever saves wait for something, before it is saved.
    func holds(_ hold: (@Sendable () async -> Void)?) { state.withLock { $0.hold = hold } }
    /// Forgets old orders.
    func dropOrders(_ count: Int) { state.withLock { $0.orders.removeFirst(count) } }

    private func write(_ body: (inout State) -> Void) throws(SessionStoreError) {
        // As GRDB does.
        guard !Task.isCancelled else { throw SessionStoreError("cancelled") }
        let isBroken = state.withLock { state in
            guard !state.isBroken else { return true }
            body(&state)
            return false
        }
        if isBroken { throw SessionStoreError("the disk is full") }
    }

    func loadSessions() async throws(SessionStoreError) -> SessionSnapshot {
        guard !state.withLock({ $0.isBroken }) else { throw SessionStoreError("the disk is full") }
        return state.withLock {
            SessionSnapshot(sessions: Array($0.records.values), lastOrder: $0.orders.last?.number ?? 0)
        }
    }

    func saveSession(_ session: SessionRecord) async throws(SessionStoreError) {
        if let hold = state.withLock({ $0.hold }) { await hold() }
        try write { $0.records[session.id] = session }
    }

    func renewSession(_ id: SessionID, token: Digest) async throws(SessionStoreError) {
        if let hold = state.withLock({ $0.hold }) { await hold() }
        try write { $0.records[id]?.token = token }
    }

    func touchSessions(_ touches: [SessionTouch]) async throws(SessionStoreError) {
        try write { state in
            for touch in touches {
                state.touches += 1
                state.records[touch.id]?.lastSeen = touch.lastSeen
                state.records[touch.id]?.idleExpiry = touch.idleExpiry
                state.records[touch.id]?.absoluteExpiry = touch.absoluteExpiry
            }
        }
    }

    func removeSessions(_ ids: [SessionID]) async throws(SessionStoreError) {
        try write { state in
            for id in ids { state.records[id] = nil }
        }
    }

    func sessionOrders(after number: Int) async throws(SessionStoreError) -> [SessionOrder] {
        guard !state.withLock({ $0.isBroken }) else { throw SessionStoreError("the disk is full") }
        return state.withLock { $0.orders.filter { $0.number > number } }
    }

    func orderSessions(_ what: SessionOrder.What) async throws(SessionStoreError) -> Int {
        state.withLock { state in
            state.orders.append(SessionOrder(number: (state.orders.last?.number ?? 0) + 1, what))
            guard case .end(let selection) = what else { return 0 }
            let before = state.records.count
            state.records = state.records.filter { !selection.includes($0.key, of: $0.value.user) }
            return before - state.records.count
        }
    }
}
