// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import NIOCore
internal import OpenSSLKit

extension OpenSSLHandler {
    /// Begins the handshake and its deadline.
    func start(_ context: ChannelHandlerContext) {
        guard case .idle = state else { return }
        state = .handshaking
        if let time = configuration.handshakeTimeout {
            schedule(context, in: time) { handler, context in
                guard case .handshaking = handler.state else { return }
                handler.fail(context, NIOOpenSSLError(.handshakeTimeout))
            }
        }
        shakeHands(context)
        sendCiphertext(context)
        flushIfNeeded(context)
        // The handshake needs the peer's bytes whether or not the application has asked for any.
        if case .handshaking = state { context.read() }
    }

    /// Goes on with the handshake as far as the bytes at hand allow.
    func shakeHands(_ context: ChannelHandlerContext) {
        guard case .handshaking = state, let connection else { return }
        do throws(OpenSSLError) {
            let (step, taken) = try connection.handshake(input.readableBytesSpan)
            dropInput(taken)
            switch step {
            case .needsInput: return
            case .complete: try handshakeCompleted(context, connection.info)
            }
        } catch {
            let isHTTP = error.code == .plainHTTP || PlainHTTP.matches(opening)
            let failure = NIOOpenSSLError(isHTTP ? .plainHTTP : .handshakeFailed, cause: error)
            // Who was told of by an alert needs none in return.
            fail(context, failure, needsAlert: error.code != .alertReceived)
        }
    }

    private func handshakeCompleted(
        _ context: ChannelHandlerContext,
        _ info: TLSConnectionInfo
    ) throws(OpenSSLError) {
        guard let version = info.version, let cipher = info.cipherSuite else {
            throw OpenSSLError(.unsupportedVersion, context: "TLS handshake")
        }
        cancelDeadline()
        opening = []
        undecryptedCount = input.readableBytes
        state = .open
        // Most requests follow later than the handshake's last record.
        connection?.releaseBuffers()
        context.fireUserInboundEventTriggered(
            TLSHandshakeCompleted(
                negotiatedProtocol: info.applicationProtocol,
                version: version,
                cipher: cipher,
                isResumed: info.isResumed,
                serverName: info.serverName
            )
        )
        if pendingWrites.hasFlushed { encrypt(context) }
        finishOutputClose(context)
    }

    /// Forgets ciphertext that is done with; no storage is kept for nothing.
    func dropInput(_ count: Int) {
        if count == input.readableBytes { input = ByteBuffer() } else { input.moveReaderIndex(forwardBy: count) }
    }

    /// Runs `body` on the event loop later, unless the deadline is cancelled or another takes its place.
    func schedule(
        _ context: ChannelHandlerContext,
        in time: TimeAmount,
        _ body: @escaping (OpenSSLHandler, ChannelHandlerContext) -> Void
    ) {
        cancelDeadline()
        // Both live as long as the deadline: every way out of the pipeline cancels it.
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: time) { body(self, context) }
    }

    func cancelDeadline() {
        deadline?.cancel()
        deadline = nil
    }
}
