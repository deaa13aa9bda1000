// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Synchronization

/// The permission to keep OpenSSL's record buffers from one record to the next.
///
/// Allocating and wiping them for every record costs as much as the record; keeping them takes 34 KiB. So a connection
/// keeps them while it is busy, and only a limited number of connections does; all others allocate them for every
/// record.
enum BufferHold {
    /// The number of connections of the process that may keep their buffers: 2 MB in total.
    static let limit = 64

    private static let count = Atomic(0)

    /// Takes a permission, unless all are taken.
    static func take() -> Bool {
        if count.add(1, ordering: .relaxed).newValue <= limit { return true }
        giveBack()
        return false
    }

    /// Returns a permission.
    static func giveBack() {
        count.subtract(1, ordering: .relaxed)
    }
}
