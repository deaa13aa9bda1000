// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Synchronization

/// The store of a state folder.
///
/// It is opened when it is first used.
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

    /// True if ``store()`` was called with mode ``Mode/checkOnly``, and the store is of an older version.
    public var isOfOlderVersion: Bool { opened.withLock { $0.isOfOlderVersion } }

    /// Creates a lazy store.
    ///
    /// - Parameters:
    ///   - folder: The state folder.
    ///   - mode: The action if the store does not exist.
    public init(folder: String, mode: Mode) {
        self.folder = folder
        self.mode = mode
    }

    /// Opens the store at the first call, and returns the same store at later calls.
    ///
    /// - Returns: The store.
    /// - Throws: ``StoreFault`` if the store cannot be opened. The next call tries again.
    public func store() throws(StoreFault) -> GatehouseStore {
        try opened.withLock { state throws(StoreFault) -> GatehouseStore in
            if let opened = state.store { return opened }
            let store =
                switch mode {
                case .createIfMissing: try GatehouseStore.open(folder: folder)
                case .existingOnly: try GatehouseStore.openExisting(folder: folder)
                case .checkOnly: try Self.check(folder, isOfOlderVersion: &state.isOfOlderVersion)
                }
            state.store = store
            return store
        }
    }

    private static func check(
        _ folder: String,
        isOfOlderVersion: inout Bool
    ) throws(StoreFault) -> GatehouseStore {
        do throws(StoreFault) {
            return try GatehouseStore.openExisting(folder: folder)
        } catch {
            guard error.code == .tooOld else { throw error }
            isOfOlderVersion = true
            return try GatehouseStore.inMemory()
        }
    }
}
