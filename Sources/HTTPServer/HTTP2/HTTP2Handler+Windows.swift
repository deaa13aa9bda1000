// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import NIOHTTP2

extension HTTP2Handler {
    /// The number of bytes of request bodies, on all streams, that wait to be read.
    var unreadCount: Int { streams.values.reduce(0) { $0 + $1.unreadCount } }

    /// Enlarges the connection's window by the bytes that have been read, if half of the window is used.
    func creditConnection() {
        guard isServing, deadlines.isWritable, window <= HTTP2Configuration.windowSize / 2 else { return }
        let credit = HTTP2Configuration.windowSize - window - unreadCount
        guard credit > HTTP2Configuration.windowSize / 4 else { return }
        write(.windowUpdate(windowSizeIncrement: credit), to: .rootStream)
        flush()
    }

    /// Counts bytes that the client has sent on a stream, and enlarges the windows if the bytes have been read.
    func creditStream(_ stream: HTTP2Stream, count: Int) {
        stream.uncreditedCount += count
        creditWindows(stream)
    }

    /// Enlarges the windows of the connection and of a stream by the bytes that have been read.
    func creditWindows(_ stream: HTTP2Stream) {
        guard isOpen(stream), deadlines.isWritable else { return }
        creditConnection()
        guard !stream.hasRequestEnded, stream.unreadCount == 0,
            stream.uncreditedCount > HTTP2Configuration.windowSize / 4
        else { return }
        let credit = stream.uncreditedCount
        stream.uncreditedCount = 0
        write(.windowUpdate(windowSizeIncrement: credit), to: stream.id)
        flush()
    }
}
