// SPDX-License-Identifier: Apache-2.0

import OpenSSLKit
import RealmKit
import Sessions
import Synchronization

/// A session store in memory, whose failures a test controls.
final class MemoryStore: SessionStore {
    private struct State {
        var records: [SessionID: SessionRecord] = [:]
        var commands: [SessionCommand] = []
        var touches = 0
        var isFailing = false
        var isRecordingFailing = true
        var recordedEnds: Set<SessionID> = []
        var removalHold: (@Sendable () async -> Void)?
        var recordingHold: (@Sendable () async -> Void)?
        var saveHold: (@Sendable () async -> Void)?
        var uncancellableSaveHold: (@Sendable () async -> Void)?
        var removals = 0
    }

    private let state = Mutex(State())

    var records: [SessionRecord] { state.withLock { Array($0.records.values) } }
    var touches: Int { state.withLock { $0.touches } }

    /// The number of calls that removed sessions.
    var removals: Int { state.withLock { $0.removals } }
    var recordedEnds: Set<SessionID> { state.withLock { $0.recordedEnds } }

    /// Sets whether the store fails.
    ///
    /// - Parameters:
    ///   - isFailing: True if all methods fail, except for recording ends.
    ///   - recording: True if recording ends fails.
    func setFailing(_ isFailing: Bool, recording: Bool = true) {
        state.withLock { state in
            state.isFailing = isFailing
            state.isRecordingFailing = recording
        }
    }

    /// Sets the closures that run before sessions are removed, and before their ends are recorded.
    func beforeEnding(removals: (@Sendable () async -> Void)?, recording: (@Sendable () async -> Void)?) {
        state.withLock { state in
            state.removalHold = removals
            state.recordingHold = recording
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

    /// Sets the closure that runs before a session is saved.
    func beforeSaving(_ hold: (@Sendable () async -> Void)?) { state.withLock { $0.saveHold = hold } }
    /// Sets a closure that runs before a session is saved, also if the task that saves it is cancelled.
    func beforeUncancellableSaving(_ hold: (@Sendable () async -> Void)?) {
        state.withLock { $0.uncancellableSaveHold = hold }
    }
    /// Deletes the oldest commands.
    func dropCommands(_ count: Int) { state.withLock { $0.commands.removeFirst(count) } }

    private func write(_ body: (inout State) -> Void) throws(SessionStoreError) {
        // Like GRDB, this store rejects the writes of a cancelled task.
        guard !Task.isCancelled else { throw SessionStoreError("cancelled") }
        let isFailing = state.withLock { state in
            guard !state.isFailing else { return true }
            body(&state)
            return false
        }
        if isFailing { throw SessionStoreError("the disk is full") }
    }

    func loadSessions() async throws(SessionStoreError) -> SessionSnapshot {
        guard !state.withLock({ $0.isFailing }) else { throw SessionStoreError("the disk is full") }
        return state.withLock {
            let recordedEnds = $0.recordedEnds
            return SessionSnapshot(
                sessions: $0.records.values.filter { !recordedEnds.contains($0.id) },
                ended: Array(recordedEnds),
                lastCommand: $0.commands.last?.number ?? 0
            )
        }
    }

    func saveSession(_ session: SessionRecord) async throws(SessionStoreError) {
        if let hold = state.withLock({ $0.saveHold }) { await hold() }
        guard let hold = state.withLock({ $0.uncancellableSaveHold }) else {
            return try write { $0.records[session.id] = session }
        }
        await hold()
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
            state.recordedEnds.subtract(ids)
        }
    }

    func recordEnded(_ ids: [SessionID]) async throws(SessionStoreError) {
        if let hold = state.withLock({ $0.recordingHold }) { await hold() }
        let isFailing = state.withLock { state in
            if !state.isRecordingFailing { state.recordedEnds.formUnion(ids) }
            return state.isRecordingFailing
        }
        if isFailing { throw SessionStoreError("the disk is gone") }
    }

    func sessionCommands(after number: Int) async throws(SessionStoreError) -> [SessionCommand] {
        guard !state.withLock({ $0.isFailing }) else { throw SessionStoreError("the disk is full") }
        return state.withLock { $0.commands.filter { $0.number > number } }
    }

    func storeCommand(_ action: SessionCommand.Action) async throws(SessionStoreError) -> Int {
        state.withLock { state in
            state.commands.append(SessionCommand(number: (state.commands.last?.number ?? 0) + 1, action: action))
            guard case .end(let selection) = action else { return 0 }
            let before = state.records.count
            state.records = state.records.filter { !selection.includes($0.key, of: $0.value.user) }
            return before - state.records.count
        }
    }
}
