// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

extension HTTP1Handler {
    /// Appends a response to the output buffer of the event loop.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - request: The request; nil if it could not be parsed.
    func write(_ response: PreparedResponse, to request: RequestHead.Summary?) {
        loop.output.writeImmutableBuffer(response.head)
        let option = connectionOption(for: request?.version ?? .http11)
        ResponseEncoder.finish(date: loop.date, connection: option, into: &loop.output)
        if request?.method != .head { loop.output.writeImmutableBuffer(response.body) }
        if let context, loop.output.readableBytes > EventLoopState.outputSize { flush(context) }
    }

    /// Returns the Connection field of the response to a request of an HTTP version.
    func connectionOption(for version: RequestHead.Version) -> ResponseEncoder.ConnectionOption {
        if closesAfterResponse { return .close }
        return version == .http10 ? .keepAlive : .implied
    }

    /// Writes the output buffer to the channel.
    ///
    /// The channel is flushed at the end of the event loop's round.
    func flush(_ context: ChannelHandlerContext) {
        guard loop.output.readableBytes > 0 else { return }
        let isFirst = unflushedCount == 0
        unflushedCount += loop.output.readableBytes
        context.write(wrapOutboundOut(loop.takeOutput()), promise: nil)
        if unflushedCount > EventLoopState.outputSize {
            flushNow()
        } else if isFirst {
            loop.flushLater(self)
        }
    }

    /// Starts the time limit for sending a part of a response, while the response's task waits for the sending.
    func startWriteDeadline(_ sent: EventLoopFuture<Void>) {
        deadlines.beginAwaitedWrite(at: loop.now)
        sent.assumeIsolated().whenComplete { [weak self] _ in self?.deadlines.endAwaitedWrite() }
    }

    /// Restarts the time limit for writing if the client has read some bytes.
    func extendWriteDeadline(_ now: UInt64) {
        guard deadlines.isWriteTimed, let context, let options = context.channel.syncOptions else { return }
        do {
            deadlines.recordUnsentCount(try options.getOption(.bufferedWritableBytes), at: now)
        } catch {
            // On a channel without this option the time limit is not restarted.
        }
    }
}
