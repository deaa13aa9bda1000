// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import NIOHTTP2

extension HTTP2Handler {
    /// The number of bytes of all bodies that wait to be read.
    var heldCount: Int { streams.values.reduce(0) { $0 + $1.heldCount } }

    /// Enlarges the connection's window by the bytes that have been read, as soon as half of the window is used.
    func creditConnection() {
        guard isServing, deadlines.isWritable, window <= HTTP2Configuration.window / 2 else { return }
        let credit = HTTP2Configuration.window - window - heldCount
        guard credit > HTTP2Configuration.window / 4 else { return }
        write(.windowUpdate(windowSizeIncrement: credit), to: .rootStream)
        flush()
    }

    /// Records bytes that the client has sent, and enlarges the windows if they have been read.
    func creditStream(_ stream: HTTP2Stream, count: Int) {
        stream.uncreditedCount += count
        creditWindows(stream)
    }

    /// Enlarges the windows of the connection and of a stream by the bytes that have been read.
    func creditWindows(_ stream: HTTP2Stream) {
        guard isOpen(stream), deadlines.isWritable else { return }
        creditConnection()
        guard !stream.hasRequestEnded, stream.heldCount == 0,
            stream.uncreditedCount > HTTP2Configuration.window / 4
        else { return }
        let credit = stream.uncreditedCount
        stream.uncreditedCount = 0
        write(.windowUpdate(windowSizeIncrement: credit), to: stream.id)
        flush()
    }
}
