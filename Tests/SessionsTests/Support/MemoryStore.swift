// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import OpenSSLKit
import RealmKit
import Sessions
import Synchronization

/// A store in memory.
final class MemoryStore: SessionStore {
    private struct State {
        var records: [SessionID: SessionRecord] = [:]
        var commands: [SessionCommand] = []
        var touches = 0
        var isBroken = false
        var areNotesBroken = true
        var noted: Set<SessionID> = []
        var removalHold: (@Sendable () async -> Void)?
        var noteHold: (@Sendable () async -> Void)?
        var hold: (@Sendable () async -> Void)?
        var lateHold: (@Sendable () async -> Void)?
        var removals = 0
    }

    private let state = Mutex(State())

    var records: [SessionRecord] { state.withLock { Array($0.records.values) } }
    var touches: Int { state.withLock { $0.touches } }

    /// The number of calls that removed sessions.
    var removals: Int { state.withLock { $0.removals } }
    var noted: Set<SessionID> { state.withLock { $0.noted } }

    /// Makes the store fail or not, and the notes beside it if `notes` is true.
    func setBroken(_ isBroken: Bool, notes: Bool = true) {
        state.withLock { state in
            state.isBroken = isBroken
            state.areNotesBroken = notes
        }
    }

    /// Runs a closure before sessions are removed, and one before their ends are noted.
    func beforeEnding(removals: (@Sendable () async -> Void)?, notes: (@Sendable () async -> Void)?) {
        state.withLock { state in
            state.removalHold = removals
            state.noteHold = notes
        }
    }

    func put(_ record: SessionRecord) { state.withLock { $0.records[record.id] = record } }
    func change(_ id: SessionID, _ change: (inout SessionRecord) -> Void) {
        state.withLock { state in
            guard var record = state.records[id] else { return }
            change(&record)
            state.records[id] = record
        }
    }

    /// Runs a closure before a session is saved.
    func beforeSaving(_ hold: (@Sendable () async -> Void)?) { state.withLock { $0.hold = hold } }
    /// Runs a closure before a session is saved, which a cancellation does not prevent.
    func beforeUncancellableSaving(_ hold: (@Sendable () async -> Void)?) { state.withLock { $0.lateHold = hold } }
    /// Deletes the oldest commands.
    func dropCommands(_ count: Int) { state.withLock { $0.commands.removeFirst(count) } }

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
            let noted = $0.noted
            return SessionSnapshot(
                sessions: $0.records.values.filter { !noted.contains($0.id) },
                ended: Array(noted),
                lastCommand: $0.commands.last?.number ?? 0
            )
        }
    }

    func saveSession(_ session: SessionRecord) async throws(SessionStoreError) {
        if let hold = state.withLock({ $0.hold }) { await hold() }
        guard let late = state.withLock({ $0.lateHold }) else {
            return try write { $0.records[session.id] = session }
        }
        await late()
        state.withLock { $0.records[session.id] = session }
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
        let hold = state.withLock { state in
            state.removals += 1
            return state.removalHold
        }
        if let hold { await hold() }
        try write { state in
            for id in ids { state.records[id] = nil }
            state.noted.subtract(ids)
        }
    }

    func noteEnded(_ ids: [SessionID]) async throws(SessionStoreError) {
        if let hold = state.withLock({ $0.noteHold }) { await hold() }
        let isBroken = state.withLock { state in
            if !state.areNotesBroken { state.noted.formUnion(ids) }
            return state.areNotesBroken
        }
        if isBroken { throw SessionStoreError("the disk is gone") }
    }

    func sessionCommands(after number: Int) async throws(SessionStoreError) -> [SessionCommand] {
        guard !state.withLock({ $0.isBroken }) else { throw SessionStoreError("the disk is full") }
        return state.withLock { $0.commands.filter { $0.number > number } }
    }

    func commandSessions(_ action: SessionCommand.Action) async throws(SessionStoreError) -> Int {
        state.withLock { state in
            state.commands.append(SessionCommand(number: (state.commands.last?.number ?? 0) + 1, action: action))
            guard case .end(let selection) = action else { return 0 }
            let before = state.records.count
            state.records = state.records.filter { !selection.includes($0.key, of: $0.value.user) }
            return before - state.records.count
        }
    }
}
