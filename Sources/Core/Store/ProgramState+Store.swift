// SPDX-License-Identifier: Apache-2.0

public import RealmKit
internal import Throttle

extension ProgramState {
    /// The store of users, locks and sessions: an SQLite file in the state folder.
    ///
    /// The file is opened at the first use.
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
