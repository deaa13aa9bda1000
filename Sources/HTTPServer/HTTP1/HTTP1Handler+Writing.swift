// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import NIOCore

extension HTTP1Handler {
    /// Appends a response to the loop's output.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - request: The request; nil if it could not be read.
    func write(_ response: PreparedResponse, to request: RequestHead.Summary?) {
        loop.output.writeImmutableBuffer(response.head)
        let option = connectionOption(for: request?.version ?? .http11)
        ResponseEncoder.finish(date: loop.date, connection: option, into: &loop.output)
        if request?.method != .head { loop.output.writeImmutableBuffer(response.body) }
        if let context, loop.output.readableBytes > ConnectionLoop.outputSize { flush(context) }
    }

    /// The Connection field of a response to a request of this version.
    func connectionOption(for version: RequestHead.Version) -> ResponseEncoder.ConnectionOption {
        if closesAfterResponse { return .close }
        return version == .http10 ? .keepAlive : .implied
    }

    /// Writes the loop's output to the channel, to be flushed at the end of the event loop's round.
    func flush(_ context: ChannelHandlerContext) {
        guard loop.output.readableBytes > 0 else { return }
        let isFirst = unflushedCount == 0
        unflushedCount += loop.output.readableBytes
        context.write(wrapOutboundOut(loop.takeOutput()), promise: nil)
        if unflushedCount > ConnectionLoop.outputSize {
            flushNow()
        } else if isFirst {
            loop.flushLater(self)
        }
    }

    /// Starts the time to read for a part of a response that a task waits for.
    func awaitSent(_ sent: EventLoopFuture<Void>) {
        deadlines.noteAwaited(at: loop.now)
        sent.assumeIsolated().whenComplete { [weak self] _ in self?.deadlines.endAwaited() }
    }

    /// Starts the time to read again for a client that reads, however slowly.
    func noteUnsent(_ now: UInt64) {
        guard deadlines.isWriteTimed, let context, let options = context.channel.syncOptions else { return }
        do {
            deadlines.noteUnsent(try options.getOption(.bufferedWritableBytes), at: now)
        } catch {
            // A channel without this option has its time from the start of the wait.
        }
    }
}
