// SPDX-License-Identifier: Apache-2.0

public import NIOCore
internal import OpenSSLKit

extension OpenSSLHandler {
    /// The maximum number of bytes of plaintext that are encrypted into one buffer.
    private static let chunkSize = 16 * PendingWrites.recordSize

    /// The maximum number of bytes of plaintext that are kept until the handshake is complete: 16 MiB.
    static let earlyLimit = 16 << 20
    static let allocator = ByteBufferAllocator()

    /// Keeps plaintext until a flush, or fails the promise if the plaintext can no longer be sent.
    ///
    /// Nothing is sent before the handshake is complete. The plaintext that waits for the handshake does not affect the
    /// channel's writability. If it exceeds 16 MiB, the channel is closed with `ChannelError.writeMessageTooLarge`.
    public func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch state {
        case .closing, .closed: promise?.fail(ChannelError.ioOnClosedChannel)
        case .idle, .handshaking, .open:
            guard !hasSentEnd, outputClose == nil else {
                promise?.fail(ChannelError.outputClosed)
                return
            }
            let plaintext = unwrapOutboundIn(data)
            pendingWrites.append(plaintext, promise: promise)
            if case .open = state { return }
            earlyCount += plaintext.readableBytes
            // Dropping only this plaintext would leave a gap in the stream, so the connection must end.
            if earlyCount > Self.earlyLimit { fail(context, with: ChannelError.writeMessageTooLarge) }
        }
    }

    /// Encrypts and sends all written plaintext, at once or when the handshake is complete.
    public func flush(context: ChannelHandlerContext) {
        pendingWrites.markFlush()
        encrypt(context)
        flushIfNeeded(context)
        // `channelReadComplete` also releases the buffers, but this flush may come after it.
        releaseUnheldBuffers()
    }

    /// Encrypts all flushed plaintext, unless OpenSSL must first read the rest of a message of the peer.
    func encrypt(_ context: ChannelHandlerContext) {
        guard case .open = state, !hasSentEnd, pendingWrites.hasFlushedData else { return }
        var promises = PromiseChain()
        do throws(OpenSSLError) {
            // The conditions are checked in each round, because a write may call back into this handler.
            while case .open = state, !hasSentEnd, let connection, let data = pendingWrites.frontData() {
                let count = min(data.readableBytes, Self.chunkSize)
                let plaintext = data.readableBytesSpan.extracting(first: count)
                let step = try encrypt(plaintext, by: connection, context: context)
                guard step == .written else { break }
                promises.append(pendingWrites.advance(by: count))
                if output.readableBytes >= Self.chunkSize {
                    let sent = promises.first
                    promises = PromiseChain()
                    sendCiphertext(context, for: sent)
                }
            }
        } catch {
            let failure = NIOOpenSSLError(.connectionFailed, cause: error)
            promises.first?.fail(failure)
            return fail(context, with: failure)
        }
        sendCiphertext(context, for: promises.first)
    }

    private func encrypt(
        _ plaintext: RawSpan,
        by connection: TLSConnection,
        context: ChannelHandlerContext
    ) throws(OpenSSLError) -> TLSConnection.WriteStep {
        let count = plaintext.byteCount
        guard count > 0 else { return .written }
        keepBuffers(context)
        // The overhead of a record is 22 bytes in TLS 1.3 and 29 bytes in TLS 1.2: header, tag, content type or nonce.
        let space = count + (count / PendingWrites.recordSize + 1) * 32
        var ciphertext = output
        output = ByteBuffer()
        if ciphertext.readableBytes == 0 { ciphertext = Self.allocator.buffer(capacity: space) }
        var step = TLSConnection.WriteStep.written
        var failure: OpenSSLError?
        ciphertext.writeWithOutputRawSpan(minimumWritableBytes: space) { output in
            do throws(OpenSSLError) {
                step = try connection.write(plaintext, into: &output)
            } catch {
                failure = error
            }
        }
        output = ciphertext
        if let failure { throw failure }
        return step
    }

    /// Removes and returns all ciphertext that is not sent.
    func takeOutput() -> ByteBuffer {
        var taken = output
        output = ByteBuffer()
        if let connection, connection.unsentCount > 0 { taken.writeBytes(connection.takeUnsent()) }
        return taken
    }

    /// Writes all ciphertext to the network, without a flush.
    func sendCiphertext(_ context: ChannelHandlerContext, for promise: EventLoopPromise<Void>? = nil) {
        let ciphertext = takeOutput()
        guard ciphertext.readableBytes > 0 || promise != nil else { return }
        isFlushNeeded = true
        context.write(wrapOutboundOut(ciphertext), promise: promise)
    }

    func flushIfNeeded(_ context: ChannelHandlerContext) {
        guard isFlushNeeded else { return }
        isFlushNeeded = false
        context.flush()
    }

    func failPending(_ error: any Error) {
        for promise in pendingWrites.removeAll() { promise.fail(error) }
        outputClose.take()?.promise?.fail(error)
        closePromise.take()?.succeed(())
    }
}

/// The promises of one write: the network fulfils the first promise, and the others follow it in order.
private struct PromiseChain {
    private(set) var first: EventLoopPromise<Void>?

    mutating func append(_ promise: EventLoopPromise<Void>?) {
        guard let promise else { return }
        if let first { first.futureResult.cascade(to: promise) } else { first = promise }
    }
}
