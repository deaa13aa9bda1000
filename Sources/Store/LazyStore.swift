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
    }

    /// The state folder.
    public let folder: String
    private let mode: Mode
    private let opened = Mutex<GatehouseStore?>(nil)

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
        try opened.withLock { opened throws(StoreFault) -> GatehouseStore in
            if let opened { return opened }
            let store =
                switch mode {
                case .createIfMissing: try GatehouseStore.open(folder: folder)
                case .existingOnly: try GatehouseStore.openExisting(folder: folder)
                }
            opened = store
            return store
        }
    }
}
