// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import NIOCore
internal import OpenSSLKit

extension OpenSSLHandler {
    /// Hands on what is already here, and asks the network for more.
    ///
    /// Asked in any case, because with autoRead nobody would ask again.
    public func read(context: ChannelHandlerContext) {
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

    private enum Outcome {
        case needsInput
        case ended
        case failed(OpenSSLError)
    }

    /// Decrypts everything at hand into one buffer and hands it on.
    ///
    /// - Parameters:
    ///   - context: The handler's context.
    ///   - unasked: Whether to do so without the application having asked, as nothing will come after it.
    func decrypt(_ context: ChannelHandlerContext, unasked: Bool = false) {
        guard let connection, !hasReceivedEnd, transport.receivedCount > 0 else { return }
        switch state {
        case .open: guard isReadWanted || unasked else { return }
        case .closing: break
        case .idle, .handshaking, .closed: return
        }
        var plaintext = context.channel.allocator.buffer(capacity: undecryptedCount)
        let before = transport.outputCount
        let outcome = decrypt(from: connection, into: &plaintext)
        guard boundsAnswers(context, made: transport.outputCount - before) else {
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
        case .needsInput: finishOutputClose(context)
        case .ended: peerEnded(context)
        case .failed(let error): fail(context, NIOOpenSSLError(.connectionFailed, cause: error))
        }
    }

    private func decrypt(from connection: TLSConnection, into plaintext: inout ByteBuffer) -> Outcome {
        while true {
            var step = TLSConnection.ReadStep.needsInput
            do throws(OpenSSLError) {
                try plaintext.writeWithOutputRawSpan(minimumWritableBytes: 256) { output throws(OpenSSLError) in
                    step = try connection.read(into: &output)
                }
            } catch {
                return .failed(error)
            }
            switch step {
            case .bytes: continue
            case .needsInput: return .needsInput
            case .endOfStream: return .ended
            }
        }
    }

    /// Says whether answers to the peer's KeyUpdates are few enough, or are being sent.
    ///
    /// They are the one output that a peer can call up without end, and that no back-pressure of the application holds.
    private func boundsAnswers(_ context: ChannelHandlerContext, made count: Int) -> Bool {
        unsentAnswerCount = context.channel.isWritable ? 0 : unsentAnswerCount + count
        return unsentAnswerCount <= Self.answerLimit
    }

    /// Takes note that the peer writes no more.
    func peerEnded(_ context: ChannelHandlerContext) {
        guard !hasReceivedEnd else { return }
        hasReceivedEnd = true
        transport.dropInput()
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
