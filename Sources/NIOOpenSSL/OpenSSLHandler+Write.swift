// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import NIOCore
internal import OpenSSLKit

extension OpenSSLHandler {
    /// The number of bytes of plaintext that are encrypted into one buffer before it is written to the network.
    private static let chunkSize = 16 * PendingWrites.recordSize

    /// The number of bytes of plaintext that are kept until the handshake is complete: 16 MiB.
    static let earlyLimit = 16 << 20

    static let allocator = ByteBufferAllocator()

    /// Keeps plaintext until a flush, or fails its promise if it can no longer be sent.
    ///
    /// Nothing is sent before the handshake is complete, and the channel's writability does not include the plaintext
    /// that waits. More than 16 MiB of it closes the channel with `ChannelError.writeMessageTooLarge`.
    public func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch state {
        case .closing, .closed:
            promise?.fail(ChannelError.ioOnClosedChannel)
        case .idle, .handshaking, .open:
            guard !hasSentEnd, outputClose == nil else {
                promise?.fail(ChannelError.outputClosed)
                return
            }
            let plaintext = unwrapOutboundIn(data)
            pendingWrites.append(plaintext, promise: promise)
            if case .open = state { return }
            earlyCount += plaintext.readableBytes
            // The stream must end, as it would otherwise have a gap.
            if earlyCount > Self.earlyLimit { fail(context, with: ChannelError.writeMessageTooLarge) }
        }
    }

    /// Encrypts and sends everything written, now or when the handshake is complete.
    public func flush(context: ChannelHandlerContext) {
        pendingWrites.markFlush()
        encrypt(context)
        flushIfNeeded(context)
        // The flush may be called after the read whose end releases the buffers.
        releaseUnheldBuffers()
    }

    /// Encrypts everything flushed, as far as the peer's unfinished messages allow.
    func encrypt(_ context: ChannelHandlerContext) {
        guard case .open = state, !hasSentEnd, let connection else { return }
        if let entry = pendingWrites.takeOnly(upTo: Self.chunkSize) {
            return encrypt(entry, by: connection, context: context)
        }
        guard pendingWrites.hasFlushed else { return }
        var promises = PromiseChain()
        do throws(OpenSSLError) {
            // The conditions are checked in each round: a write may call back into this handler.
            while case .open = state, !hasSentEnd, let connection = self.connection,
                let data = pendingWrites.frontData()
            {
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

    /// The usual case: one piece, one write.
    private func encrypt(
        _ entry: PendingWrites.Entry,
        by connection: TLSConnection,
        context: ChannelHandlerContext
    ) {
        do throws(OpenSSLError) {
            guard try encrypt(entry.data.readableBytesSpan, by: connection, context: context) == .written else {
                pendingWrites.putBack(entry)
                return sendCiphertext(context)
            }
        } catch {
            let failure = NIOOpenSSLError(.connectionFailed, cause: error)
            entry.promise?.fail(failure)
            return fail(context, with: failure)
        }
        sendCiphertext(context, for: entry.promise)
    }

    private func encrypt(
        _ plaintext: RawSpan,
        by connection: TLSConnection,
        context: ChannelHandlerContext
    ) throws(OpenSSLError) -> TLSConnection.WriteStep {
        let count = plaintext.byteCount
        guard count > 0 else { return .written }
        noteRecord(context)
        // 22 bytes of header, tag and content type for each record of TLS 1.3, 29 of TLS 1.2.
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
        let close = outputClose
        outputClose = nil
        close?.promise?.fail(error)
        let closed = closePromise
        closePromise = nil
        closed?.succeed(())
    }
}

/// Promises for one write: the network gets the first one, and the others follow it in order.
private struct PromiseChain {
    private(set) var first: EventLoopPromise<Void>?

    mutating func append(_ promise: EventLoopPromise<Void>?) {
        guard let promise else { return }
        if let first { first.futureResult.cascade(to: promise) } else { first = promise }
    }
}
