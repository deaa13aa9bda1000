// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import NIOCore
internal import OpenSSLKit

extension OpenSSLHandler {
    /// The most plaintext that is encrypted into one buffer before it is handed to the network.
    private static let chunkSize = 16 * PendingWrites.recordSize

    /// Keeps plaintext until a flush; fails its promise if it can no more be sent.
    public func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch state {
        case .closing, .closed:
            promise?.fail(ChannelError.ioOnClosedChannel)
        case .idle, .handshaking, .open:
            guard !hasSentEnd, outputClose == nil else {
                promise?.fail(ChannelError.outputClosed)
                return
            }
            pendingWrites.append(unwrapOutboundIn(data), promise)
        }
    }

    /// Encrypts what was written and sends it, or remembers to once the handshake is done.
    public func flush(context: ChannelHandlerContext) {
        pendingWrites.markFlush()
        encrypt(context)
        flushIfNeeded(context)
    }

    /// Encrypts everything flushed, as far as the peer's unfinished messages allow.
    func encrypt(_ context: ChannelHandlerContext) {
        var promises: [EventLoopPromise<Void>] = []
        do throws(OpenSSLError) {
            // Looked at anew each time round: handing on may call back into this handler.
            while case .open = state, !hasSentEnd, let connection, let data = pendingWrites.frontData() {
                let count = min(data.readableBytes, Self.chunkSize)
                // 22 bytes of header, tag and content type for each record of TLS 1.3, 29 of TLS 1.2.
                transport.reserveOutput(count + (count / PendingWrites.recordSize + 1) * 32)
                guard try connection.write(data.readableBytesSpan.extracting(first: count)) == .written else { break }
                let (finished, promise) = pendingWrites.advance(by: count)
                if finished, let promise { promises.append(promise) }
                if transport.outputCount >= Self.chunkSize {
                    let sent = promises
                    promises = []
                    sendCiphertext(context, for: sent)
                }
            }
        } catch {
            let failure = NIOOpenSSLError(.connectionFailed, cause: error)
            for promise in promises { promise.fail(failure) }
            return fail(context, failure)
        }
        sendCiphertext(context, for: promises)
    }

    /// Hands the ciphertext at hand to the network, without a flush.
    func sendCiphertext(_ context: ChannelHandlerContext, for promises: [EventLoopPromise<Void>] = []) {
        guard transport.outputCount > 0 || !promises.isEmpty else { return }
        isFlushNeeded = true
        // The network knows one promise; the others follow it, in order.
        if let first = promises.first {
            for other in promises.dropFirst() { first.futureResult.cascade(to: other) }
        }
        context.write(wrapOutboundOut(transport.takeOutput()), promise: promises.first)
    }

    func flushIfNeeded(_ context: ChannelHandlerContext) {
        guard isFlushNeeded else { return }
        isFlushNeeded = false
        context.flush()
    }

    func failPending(_ error: any Error) {
        for promise in pendingWrites.removeAll() { promise.fail(error) }
        let close = outputClose
        outputClose = nil
        close?.promise?.fail(error)
        let closed = closePromise
        closePromise = nil
        closed?.succeed(())
    }
}
