// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Throttle

/// A store in memory.
final class MemoryStore: ThrottleStore {
    private struct State {
        var records: [ThrottleKey: ThrottleRecord] = [:]
        var resets: [LockoutReset] = []
        var saves = 0
        var isBroken = false
    }

    private let state = Mutex(State())

    var records: [ThrottleRecord] { state.withLock { Array($0.records.values) } }
    var saves: Int { state.withLock { $0.saves } }

    func setBroken(_ isBroken: Bool) { state.withLock { $0.isBroken = isBroken } }

    func put(_ record: ThrottleRecord) { state.withLock { $0.records[record.key] = record } }

    func load() async throws(ThrottleStoreError) -> ThrottleSnapshot {
        state.withLock { state in
            let last = state.resets.last?.number ?? 0
            return ThrottleSnapshot(records: Array(state.records.values), lastReset: last)
        }
    }

    func save(_ changes: [ThrottleChange]) async throws(ThrottleStoreError) {
        // GRDB also rejects the calls of a cancelled task.
        guard !Task.isCancelled else { throw ThrottleStoreError("cancelled") }
        let isBroken = state.withLock { state in
            guard !state.isBroken else { return true }
            state.saves += 1
            for change in changes {
                switch change {
                case .save(let record): state.records[record.key] = record
                case .remove(let key): state.records[key] = nil
                case .removeAll: state.records = [:]
                }
            }
            return false
        }
        if isBroken { throw ThrottleStoreError("the disk is full") }
    }

    func lockoutResets(after number: Int) async throws(ThrottleStoreError) -> [LockoutReset] {
        state.withLock { $0.resets.filter { $0.number > number } }
    }

    func clear(_ scope: LockoutReset.Scope) async throws(ThrottleStoreError) {
        state.withLock { state in
            switch scope {
            case .one(let key): state.records[key] = nil
            case .all: state.records = [:]
            }
            state.resets.append(LockoutReset(number: (state.resets.last?.number ?? 0) + 1, scope: scope))
        }
    }
}
