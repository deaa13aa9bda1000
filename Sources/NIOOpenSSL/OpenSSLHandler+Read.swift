// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import NIOCore
internal import OpenSSLKit

extension OpenSSLHandler {
    /// Hands on what is already here, and asks the network for more.
    ///
    /// Asked in any case, because with autoRead nobody would ask again.
    public func read(context: ChannelHandlerContext) {
        // What a peer sends after its close_notify stays with it.
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

    /// The most answers kept for a peer that does not read: some 600 KeyUpdates, where none is usual.
    private static let answerLimit = 16_384

    /// Decrypts everything at hand into one buffer and hands it on.
    ///
    /// - Parameters:
    ///   - context: The handler's context.
    ///   - unasked: Whether to do so without the application having asked, as nothing will come after it.
    func decrypt(_ context: ChannelHandlerContext, unasked: Bool = false) {
        guard input.readableBytes > 0, let connection, !hasReceivedEnd else { return }
        switch state {
        case .open: guard isReadWanted || unasked else { return }
        case .closing: break
        case .idle, .handshaking, .closed: return
        }
        noteRecord(context)
        let before = connection.unsentCount
        var plaintext = Self.allocator.buffer(
            capacity: min(undecryptedCount, input.readableBytes + PendingWrites.recordSize)
        )
        let outcome = Result { () throws(OpenSSLError) in try decrypt(from: connection, into: &plaintext) }
        guard boundsAnswers(context, made: connection.unsentCount - before) else {
            return fail(context, NIOOpenSSLError(.unreadAnswers))
        }
        if plaintext.readableBytes > 0 {
            undecryptedCount = 0
            // Nobody waits for what comes after a close.
            if case .open = state {
                hasDeliveredThisCycle = true
                context.fireChannelRead(wrapInboundOut(plaintext))
            }
        }
        // A write may have waited for the end of a message of the peer.
        if pendingWrites.hasFlushed { encrypt(context) }
        switch outcome {
        case .success(false): if outputClose != nil { finishOutputClose(context) }
        case .success(true): peerEnded(context)
        case .failure(let error): fail(context, NIOOpenSSLError(.connectionFailed, cause: error))
        }
    }

    /// Says whether the peer has ended its stream.
    private func decrypt(
        from connection: TLSConnection,
        into plaintext: inout ByteBuffer
    ) throws(OpenSSLError) -> Bool {
        while true {
            var step = TLSConnection.ReadStep.needsInput
            var taken = 0
            let ciphertext = input
            // The space is short only if plaintext came out between the parts of a record.
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

    /// Says whether answers to the peer's KeyUpdates are few enough, or are being sent.
    ///
    /// They are the one output that a peer can call up without end, and that no back-pressure of the application holds.
    private func boundsAnswers(_ context: ChannelHandlerContext, made count: Int) -> Bool {
        guard count > 0 || unsentAnswerCount > 0 else { return true }
        unsentAnswerCount = context.channel.isWritable ? 0 : unsentAnswerCount + count
        return unsentAnswerCount <= Self.answerLimit
    }

    /// Takes note that the peer writes no more.
    func peerEnded(_ context: ChannelHandlerContext) {
        guard !hasReceivedEnd else { return }
        hasReceivedEnd = true
        input = ByteBuffer()
        switch state {
        case .idle, .handshaking, .closed:
            return
        case .closing:
            finishClose(context)
        case .open:
            if isRemoteHalfClosureAllowed(context) {
                context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
                // The application may have closed meanwhile.
                guard case .open = state, hasSentEnd else { return }
            }
            close(context: context, mode: .all, promise: nil)
        }
    }

    /// Asks the channel for its option as TCP does at an end of the stream.
    private func isRemoteHalfClosureAllowed(_ context: ChannelHandlerContext) -> Bool {
        guard let options = context.channel.syncOptions else { return false }
        do {
            return try options.getOption(.allowRemoteHalfClosure)
        } catch {
            // A channel without the option closes both directions at once.
            return false
        }
    }
}
