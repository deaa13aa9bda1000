// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import OpenSSLKit
internal import Synchronization

extension OpenSSLHandler {
    /// The interval of the check that releases the record buffers if no record was processed since the previous check.
    ///
    /// The buffers are therefore kept for one to two intervals after the last record.
    static let quietTime = TimeAmount.seconds(1)

    /// Keeps the record buffers after a record, until no record has followed for ``quietTime``.
    func keepBuffers(_ context: ChannelHandlerContext) {
        hadRecord = true
        guard quietCheck == nil, BufferPermit.acquire() else { return }
        scheduleQuietCheck(context)
    }

    /// Releases the record buffers at once if the connection has no permission to keep them.
    func releaseUnheldBuffers() {
        guard hadRecord, quietCheck == nil else { return }
        hadRecord = false
        connection?.releaseBuffers()
    }

    private func scheduleQuietCheck(_ context: ChannelHandlerContext) {
        hadRecord = false
        quietCheck = context.eventLoop.assumeIsolated().scheduleTask(in: Self.quietTime) {
            if self.hadRecord { return self.scheduleQuietCheck(context) }
            self.quietCheck = nil
            BufferPermit.release()
            self.connection?.releaseBuffers()
        }
    }

    /// Gives back the permission to keep buffers at the end of the connection.
    func cancelQuietCheck() {
        guard let check = quietCheck.take() else { return }
        check.cancel()
        BufferPermit.release()
    }
}

/// The permission of a connection to keep OpenSSL's record buffers from one record to the next.
///
/// Allocating and wiping the buffers for every record takes as long as processing the record, and keeping them takes 34
/// KiB of memory. So a busy connection keeps its buffers if it gets one of a limited number of permissions.
enum BufferPermit {
    /// The maximum number of connections of the process that keep their buffers, together about 2 MB.
    static let limit = 64

    private static let count = Atomic(0)

    /// Takes a permission, and returns whether one was available.
    static func acquire() -> Bool {
        if count.add(1, ordering: .relaxed).newValue <= limit { return true }
        release()
        return false
    }

    static func release() { count.subtract(1, ordering: .relaxed) }
}
