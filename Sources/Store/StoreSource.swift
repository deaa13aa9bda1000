// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Synchronization

/// The store of a state folder, opened when it is first asked for.
///
/// Programs lend it to realms as one of their services, so that a configuration without any use of a store makes no file.
public final class StoreSource: Sendable {
    /// What becomes of a store that is not there.
    public enum Mode: Sendable, Hashable {
        /// It is made.
        case make
        /// An empty one in memory stands for it.
        case look
    }

    /// The state folder.
    public let folder: String
    private let mode: Mode
    private let opened = Mutex<GatehouseStore?>(nil)

    /// A source.
    ///
    /// - Parameters:
    ///   - folder: The state folder.
    ///   - mode: What becomes of a store that is not there.
    public init(folder: String, mode: Mode) {
        self.folder = folder
        self.mode = mode
    }

    /// The store, the same each time.
    ///
    /// - Returns: The store.
    /// - Throws: ``StoreFault`` when it cannot be opened; the next call tries again.
    public func store() throws(StoreFault) -> GatehouseStore {
        try opened.withLock { opened throws(StoreFault) -> GatehouseStore in
            if let opened { return opened }
            let store =
                switch mode {
                case .make: try GatehouseStore.open(folder: folder)
                case .look: try GatehouseStore.openExisting(folder: folder)
                }
            opened = store
            return store
        }
    }
}
