// SPDX-License-Identifier: Apache-2.0

public import RealmKit
internal import Sessions
internal import Synchronization
internal import Throttle

/// The store of a state folder, opened when it is first used.
///
/// Programs provide it to their realms as a service. If a configuration does not use the store, no file is created.
package final class LazyStore: Sendable {
    package let folder: String
    private let access: StateAccess
    private let opened = Mutex(State())

    private struct State {
        var store: GatehouseStore?
        var isOfOlderVersion = false
    }

    /// True if a call of a program that only checks the configuration has found a store of an older version.
    package var isOfOlderVersion: Bool { opened.withLock { $0.isOfOlderVersion } }

    package init(folder: String, access: StateAccess) {
        self.folder = folder
        self.access = access
    }

    /// Opens the store at the first call, and returns the same store at later calls.
    ///
    /// - Throws: ``StoreFault`` if the store cannot be opened. The next call tries again.
    package func store() throws(StoreFault) -> GatehouseStore {
        try opened.withLock { state throws(StoreFault) -> GatehouseStore in
            if let store = try open(&state) { return store }
            let store = try GatehouseStore.inMemory()
            state.store = store
            return store
        }
    }

    /// Opens the store; nil if none exists, and ``store()`` has not made an empty one in memory.
    ///
    /// - Throws: ``StoreFault`` if the store cannot be opened.
    package func present() throws(StoreFault) -> GatehouseStore? {
        try opened.withLock { state throws(StoreFault) -> GatehouseStore? in try open(&state) }
    }

    private func open(_ state: inout State) throws(StoreFault) -> GatehouseStore? {
        if let store = state.store { return store }
        do throws(StoreFault) {
            state.store =
                switch access {
                case .createIfMissing: try GatehouseStore.open(folder: folder)
                case .existingOnly, .checkOnly: try GatehouseStore.openIfPresent(folder: folder)
                }
        } catch {
            guard access == .checkOnly, error.code == .tooOld else { throw error }
            state.isOfOlderVersion = true
        }
        return state.store
    }
}

extension ProgramState {
    /// The store of users, locks and sessions: an SQLite file in the state folder, opened at the first use.
    public static let store = ProgramState { folder, access in
        let store = LazyStore(folder: folder, access: access)
        return { services in
            services[LazyStore.self] = store
            services[SessionStorage.self] = SessionStorage {
                try store.store()
            } announcement: {
                try await store.store().announcement()
            }
            services[ThrottleStorage.self] = ThrottleStorage { try store.store() }
            services[RecordedLockouts.self] = RecordedLockouts { now in
                guard let store = try store.present() else { return RecordedLocks.none }
                return try await RecordedLocks(store, now: now)
            }
        }
    }
}
