// SPDX-License-Identifier: Apache-2.0

internal import NIOHTTP2

extension HTTP2Handler {
    /// Enlarges the connection's window, if half of the window is used.
    func creditConnection() {
        guard isServing, deadlines.isWritable, window <= HTTP2Configuration.windowSize / 2 else { return }
        write(.windowUpdate(windowSizeIncrement: HTTP2Configuration.windowSize - window), to: .rootStream)
        flush()
    }

    /// Counts bytes that the client has sent on a stream, and enlarges the windows.
    func creditStream(_ stream: HTTP2Stream, count: Int) {
        stream.uncreditedCount += count
        creditWindows(stream)
    }

    /// Enlarges the windows of the connection and of a stream by the bytes that have arrived.
    func creditWindows(_ stream: HTTP2Stream) {
        guard isOpen(stream), deadlines.isWritable else { return }
        creditConnection()
        guard !stream.hasRequestEnded, stream.uncreditedCount > HTTP2Configuration.windowSize / 4 else { return }
        let credit = stream.uncreditedCount
        stream.uncreditedCount = 0
        write(.windowUpdate(windowSizeIncrement: credit), to: stream.id)
        flush()
    }
}
