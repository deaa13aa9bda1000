// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Synchronization

/// The right to keep OpenSSL's record buffers from one record to the next.
///
/// To make and wipe them anew for every record costs as much as the record; to keep them costs 34 KiB. So a connection
/// keeps them while it is busy, and a bounded number of connections does: those beyond make them anew.
enum BufferHold {
    /// How many connections of the process may keep theirs: 2 MB in all.
    static let limit = 64

    private static let count = Atomic(0)

    /// Takes the right, unless it is used up.
    static func take() -> Bool {
        if count.add(1, ordering: .relaxed).newValue <= limit { return true }
        giveBack()
        return false
    }

    /// Gives it back.
    static func giveBack() {
        count.subtract(1, ordering: .relaxed)
    }
}
