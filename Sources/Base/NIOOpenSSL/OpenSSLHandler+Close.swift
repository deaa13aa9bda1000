// SPDX-License-Identifier: Apache-2.0

public import NIOCore
internal import OpenSSLKit

extension OpenSSLHandler {
    // A plaintext alert record: fatal, unexpected_message (RFC 8446 sections 5 and 6.2). OpenSSL makes no alert if the
    // peer's first bytes are not a record.
    private static let unexpectedMessage: [UInt8] = [0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x0a]

    /// Closes the connection, or one of its directions.
    ///
    /// The outgoing direction is closed with close_notify, and the peer's is not awaited: RFC 8446 section 6.1 does not
    /// require it. Writes that are not flushed fail.
    public func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        switch mode {
        case .all: closeAll(context, promise: promise)
        case .output: closeOutput(context, promise: promise)
        case .input:
            hasReceivedEnd = true
            input = ByteBuffer()
            context.close(mode: .input, promise: promise)
        }
    }

    private func closeAll(_ context: ChannelHandlerContext, promise: EventLoopPromise<Void>?) {
        switch state {
        case .idle, .closed: context.close(mode: .all, promise: promise)
        case .handshaking:
            // Before the handshake is complete there are no keys for a close_notify.
            closePromise = promise
            finishClose(context)
        case .closing:
            // The first close calls back while it sends close_notify.
            if let closePromise { closePromise.futureResult.cascade(to: promise) } else { closePromise = promise }
            finishClose(context)
        case .open:
            closePromise = promise
            state = .closing
            sendEnd(context)
            finishClose(context)
        }
    }

    private func closeOutput(_ context: ChannelHandlerContext, promise: EventLoopPromise<Void>?) {
        switch state {
        case .idle: context.close(mode: .output, promise: promise)
        case .closing, .closed: promise?.fail(ChannelError.ioOnClosedChannel)
        case .handshaking, .open:
            guard !hasSentEnd, outputClose == nil else {
                promise?.fail(ChannelError.outputClosed)
                return
            }
            outputClose = OutputClose(promise: promise)
            finishOutputClose(context)
        }
    }

    /// Closes the outgoing direction if this was requested and all earlier flushed writes are encrypted.
    func finishOutputClose(_ context: ChannelHandlerContext) {
        guard case .open = state, let close = outputClose, !pendingWrites.hasFlushedData else { return }
        outputClose = nil
        for promise in pendingWrites.removeAll() { promise.fail(ChannelError.outputClosed) }
        sendEnd(context)
        guard case .open = state else {
            close.promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        if hasReceivedEnd {
            closePromise = close.promise
            finishClose(context)
        } else {
            if let time = configuration.halfCloseTimeout {
                schedule(context, in: time) { handler, context in handler.finishClose(context) }
            }
            context.close(mode: .output, promise: close.promise)
        }
    }

    /// Sends close_notify, unless it was already sent.
    private func sendEnd(_ context: ChannelHandlerContext) {
        guard !hasSentEnd, let connection else { return }
        hasSentEnd = true
        do throws(OpenSSLError) {
            try connection.shutdown()
        } catch {
            return fail(context, with: NIOOpenSSLError(.connectionFailed, cause: error))
        }
        sendCiphertext(context)
        flushIfNeeded(context)
    }

    /// Enters the last state and ends what waits; returns false if the handler was in this state already.
    private func becomeClosed() -> Bool {
        if case .closed = state { return false }
        state = .closed
        cancelDeadline()
        cancelQuietCheck()
        return true
    }

    /// Closes the channel now.
    func finishClose(_ context: ChannelHandlerContext) {
        guard becomeClosed() else { return }
        let promise = closePromise.take()
        failPending(ChannelError.ioOnClosedChannel)
        context.close(mode: .all, promise: promise)
    }

    /// Ends the connection by an error: sends the alert, fails the promises, reports the error, and closes the channel.
    ///
    /// Later calls have no effect. If an alert is needed, one is sent even if OpenSSL has made none.
    func fail(_ context: ChannelHandlerContext, with error: any Error, needsAlert: Bool = false) {
        guard becomeClosed() else { return }
        // A plain HTTP request is answered, whatever ends the waiting for its rest.
        let error = plainHTTPError ?? error
        let response = plainHTTPError == nil ? nil : configuration.plainHTTPResponse
        var alert = takeOutput()
        if needsAlert && alert.readableBytes == 0 { alert.writeBytes(Self.unexpectedMessage) }
        if let response { alert = response }
        if alert.readableBytes > 0 {
            context.writeAndFlush(wrapOutboundOut(alert), promise: nil)
        } else {
            flushIfNeeded(context)
        }
        input = ByteBuffer()
        let promise = closePromise.take()
        failPending(error)
        context.fireErrorCaught(error)
        context.close(mode: .all, promise: promise)
    }
}
