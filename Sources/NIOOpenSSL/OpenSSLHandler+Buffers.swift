// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import NIOCore
internal import OpenSSLKit

extension OpenSSLHandler {
    /// How long the record buffers are kept after the last record, at least; and at most twice as long.
    static let quietTime = TimeAmount.seconds(1)

    /// Takes note that records go to and fro: the buffers are kept from now on until nothing has happened for a while.
    func noteRecord(_ context: ChannelHandlerContext) {
        hadRecord = true
        guard quietCheck == nil, BufferHold.take() else { return }
        scheduleQuietCheck(context)
    }

    /// Lets the buffers go at once where there is no right to keep them.
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

    /// Gives up the right to keep buffers, as the connection is at its end.
    func cancelQuietCheck() {
        guard let check = quietCheck else { return }
        check.cancel()
        quietCheck = nil
        BufferHold.giveBack()
    }
}
