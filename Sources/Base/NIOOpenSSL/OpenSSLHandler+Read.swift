// SPDX-License-Identifier: Apache-2.0

public import NIOCore
internal import OpenSSLKit

extension OpenSSLHandler {
    /// Delivers the data that has arrived, and always reads from the network: with autoRead, SwiftNIO calls `read()`
    /// again only after a read from the network.
    public func read(context: ChannelHandlerContext) {
        // Data after the peer's close_notify is not read.
        if case .open = state, hasReceivedEnd { return }
        isReadWanted = true
        let hadDelivered = hasDeliveredThisCycle
        decrypt(context)
        if hasDeliveredThisCycle && !hadDelivered {
            hasDeliveredThisCycle = false
            isReadWanted = false
            context.fireChannelReadComplete()
        }
        context.read()
    }

    /// The maximum number of bytes of answers kept for a peer that does not read: about 600 answers to KeyUpdates,
    /// which ordinary peers do not send.
    private static let answerLimit = 16_384

    /// Decrypts the data that has arrived, and delivers it in one buffer; at the end, even without a call of `read()`.
    func decrypt(_ context: ChannelHandlerContext, isFinal: Bool = false) {
        guard input.readableBytes > 0, let connection, !hasReceivedEnd else { return }
        switch state {
        case .open: guard isReadWanted || isFinal else { return }
        case .closing: break
        case .idle, .handshaking, .closed: return
        }
        keepBuffers(context)
        let before = connection.unsentCount
        let capacity = min(undecryptedCount, input.readableBytes + PendingWrites.recordSize)
        var plaintext = Self.allocator.buffer(capacity: capacity)
        let outcome = Result { () throws(OpenSSLError) in try decrypt(from: connection, into: &plaintext) }
        // A peer could cause any number of answers to KeyUpdates, which the application's back-pressure does not stop.
        let answers = connection.unsentCount - before
        if answers > 0 || unsentAnswerCount > 0 {
            unsentAnswerCount = context.channel.isWritable ? 0 : unsentAnswerCount + answers
            guard unsentAnswerCount <= Self.answerLimit else {
                return fail(context, with: NIOOpenSSLError(.unreadAnswers))
            }
        }
        if plaintext.readableBytes > 0 {
            undecryptedCount = 0
            // After a close the application gets no more data.
            if case .open = state {
                hasDeliveredThisCycle = true
                context.fireChannelRead(wrapInboundOut(plaintext))
            }
        }
        // A write may have waited for the rest of a TLS message of the peer.
        if pendingWrites.hasFlushedData { encrypt(context) }
        switch outcome {
        case .success(false): if outputClose != nil { finishOutputClose(context) }
        case .success(true): peerEnded(context)
        case .failure(let error): fail(context, with: NIOOpenSSLError(.connectionFailed, cause: error))
        }
    }

    /// Decrypts the data that has arrived, and returns whether the peer has ended its stream.
    private func decrypt(
        from connection: TLSConnection,
        into plaintext: inout ByteBuffer
    ) throws(OpenSSLError) -> Bool {
        while true {
            var step = TLSConnection.ReadStep.needsInput
            var taken = 0
            let ciphertext = input
            // The buffer can be full only if the first part of this record arrived together with an earlier record,
            // because `undecryptedCount` does not include that part.
            let space = plaintext.writableBytes > 0 ? 1 : PendingWrites.recordSize
            var failure: OpenSSLError?
            plaintext.writeWithOutputRawSpan(minimumWritableBytes: space) { output in
                do throws(OpenSSLError) {
                    (step, taken) = try connection.read(ciphertext.readableBytesSpan, into: &output)
                } catch {
                    failure = error
                }
            }
            if let failure { throw failure }
            dropInput(taken)
            switch step {
            case .isFull: continue
            case .needsInput: return false
            case .endOfStream: return true
            }
        }
    }

    /// Records that the peer has ended its stream, and closes unless the application handles half-closed channels.
    func peerEnded(_ context: ChannelHandlerContext) {
        guard !hasReceivedEnd else { return }
        hasReceivedEnd = true
        input = ByteBuffer()
        switch state {
        case .idle, .handshaking, .closed: return
        case .closing: finishClose(context)
        case .open:
            if isRemoteHalfClosureAllowed(context) {
                context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
                // The application may have closed the channel during the event.
                guard case .open = state, hasSentEnd else { return }
            }
            close(context: context, mode: .all, promise: nil)
        }
    }

    /// Returns whether the channel stays open when its peer has ended its stream; one without the option does not.
    private func isRemoteHalfClosureAllowed(_ context: ChannelHandlerContext) -> Bool {
        (try? context.channel.syncOptions?.getOption(.allowRemoteHalfClosure)) ?? false
    }
}
