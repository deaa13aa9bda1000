// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The permission of a connection to keep OpenSSL's record buffers from one record to the next.
///
/// Allocating and wiping the buffers for every record takes as long as processing the record. Keeping the buffers of a
/// connection takes 34 KiB of memory. A busy connection therefore keeps its buffers if it gets one of a limited number
/// of permissions. The other connections allocate buffers for every record.
enum BufferPermit {
    /// The maximum number of connections of the process that keep their buffers.
    ///
    /// The buffers of 64 connections take about 2 MB.
    static let limit = 64

    private static let count = Atomic(0)

    /// Takes a permission, and returns whether one was available.
    static func acquire() -> Bool {
        if count.add(1, ordering: .relaxed).newValue <= limit { return true }
        release()
        return false
    }

    /// Returns a permission.
    static func release() {
        count.subtract(1, ordering: .relaxed)
    }
}
