// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import OpenSSLKit

extension OpenSSLHandler {
    /// The interval of the check whether a connection is quiet.
    ///
    /// The check releases the record buffers if no record was processed since the previous check. The buffers are
    /// therefore kept for one to two intervals after the last record.
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
        guard let check = quietCheck else { return }
        check.cancel()
        quietCheck = nil
        BufferPermit.release()
    }
}
