// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import NIOCore
internal import OpenSSLKit

extension OpenSSLHandler {
    /// The shortest time for which record buffers are kept after the last record; the longest is twice as long.
    static let quietTime = TimeAmount.seconds(1)

    /// Records that a record is read or written: the buffers are kept until the connection has been quiet for a while.
    func noteRecord(_ context: ChannelHandlerContext) {
        hadRecord = true
        guard quietCheck == nil, BufferHold.take() else { return }
        scheduleQuietCheck(context)
    }

    /// Releases the buffers at once if the connection has no permission to keep them.
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
            BufferHold.giveBack()
            self.connection?.releaseBuffers()
        }
    }

    /// Returns the permission to keep buffers, at the end of the connection.
    func cancelQuietCheck() {
        guard let check = quietCheck else { return }
        check.cancel()
        quietCheck = nil
        BufferHold.giveBack()
    }
}
