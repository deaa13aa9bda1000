// SPDX-License-Identifier: Apache-2.0

public import RealmKit
internal import Synchronization
internal import Throttle

/// The store of a state folder, opened when it is first used.
///
/// Programs provide it to their realms as a service. If a configuration does not use the store, no file is created.
public final class LazyStore: Sendable {
    /// The action if the store does not exist.
    public enum Mode: Sendable, Hashable {
        /// The store is created.
        case createIfMissing
        /// An empty store in memory is used instead.
        case existingOnly
        /// An empty store in memory is used instead, and also instead of a store of an older version.
        ///
        /// It is for the check of a configuration, which reads no users.
        case checkOnly
    }

    /// The state folder.
    public let folder: String
    private let mode: Mode
    private let opened = Mutex(State())

    private struct State {
        var store: GatehouseStore?
        var isOfOlderVersion = false
    }

    /// True if a call with mode ``Mode/checkOnly`` has found a store of an older version.
    public var isOfOlderVersion: Bool { opened.withLock { $0.isOfOlderVersion } }

    /// Creates a lazy store; the mode decides if the store does not exist.
    public init(folder: String, mode: Mode) {
        self.folder = folder
        self.mode = mode
    }

    /// Opens the store at the first call, and returns the same store at later calls.
    ///
    /// - Throws: ``StoreFault`` if the store cannot be opened. The next call tries again.
    public func store() throws(StoreFault) -> GatehouseStore {
        try opened.withLock { state throws(StoreFault) -> GatehouseStore in
            if let store = try open(&state) { return store }
            let store = try GatehouseStore.inMemory()
            state.store = store
            return store
        }
    }

    /// Opens the store, unless an empty store in memory would be used instead.
    ///
    /// A program that only needs the content of the store does less work than with ``store()`` if there is none.
    ///
    /// - Returns: The store; nil if none exists and ``store()`` has not made an empty store in memory.
    /// - Throws: ``StoreFault`` if the store cannot be opened.
    public func present() throws(StoreFault) -> GatehouseStore? {
        try opened.withLock { state throws(StoreFault) -> GatehouseStore? in try open(&state) }
    }

    private func open(_ state: inout State) throws(StoreFault) -> GatehouseStore? {
        if let store = state.store { return store }
        do throws(StoreFault) {
            state.store =
                switch mode {
                case .createIfMissing: try GatehouseStore.open(folder: folder)
                case .existingOnly, .checkOnly: try GatehouseStore.openIfPresent(folder: folder)
                }
        } catch {
            guard mode == .checkOnly, error.code == .tooOld else { throw error }
            state.isOfOlderVersion = true
        }
        return state.store
    }
}

extension ProgramState {
    /// The store of users, locks and sessions: an SQLite file in the state folder, opened at the first use.
    public static let store = ProgramState { folder, access in
        let store =
            switch access {
            case .createIfMissing: LazyStore(folder: folder, mode: .createIfMissing)
            case .existingOnly: LazyStore(folder: folder, mode: .existingOnly)
            case .checkOnly: LazyStore(folder: folder, mode: .checkOnly)
            }
        return { services in
            services[LazyStore.self] = store
            services[RecordedLockouts.self] = RecordedLockouts { now in
                guard let store = try store.present() else { return RecordedLocks.none }
                return try await RecordedLocks(store, now: now)
            }
        }
    }
}
