// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import NIOCore
public import OpenSSLKit

/// The common part of the TLS handlers of both sides: ciphertext towards the network, plaintext towards the
/// application.
///
/// It starts the handshake as soon as the channel is active, and keeps writes until the handshake is complete. Every
/// error has the same consequences: an alert to the peer where TLS has one, all promises failed, one
/// ``NIOOpenSSLError`` through `errorCaught`, the channel closed. Plaintext is delivered only after a call of `read()`.
/// Like every handler it belongs to one channel and runs on its event loop.
public class OpenSSLHandler: ChannelDuplexHandler {
    /// Ciphertext from the network.
    public typealias InboundIn = ByteBuffer
    /// Plaintext to the application.
    public typealias InboundOut = ByteBuffer
    /// Plaintext from the application.
    public typealias OutboundIn = ByteBuffer
    /// Ciphertext to the network.
    public typealias OutboundOut = ByteBuffer

    /// The state of the handler; it never goes back.
    enum State {
        /// The channel is not active yet.
        case idle
        case handshaking
        case open
        /// The application has closed the channel and close_notify is sent; that of the peer is missing.
        case closing
        /// The channel is closed or is being closed.
        case closed
    }

    let configuration: OpenSSLHandlerConfiguration
    var connection: TLSConnection?
    var state = State.idle

    // Inbound
    /// Ciphertext that is not decrypted yet, because the application has not called `read()`.
    var input = ByteBuffer()
    /// The peer's first bytes, kept until the handshake is complete.
    var opening: [UInt8] = []
    /// True if the application has called `read()` and got no data yet.
    var isReadWanted = false
    var hasDeliveredThisCycle = false
    /// The number of bytes of ciphertext received since the last plaintext, for the size of the buffer.
    var undecryptedCount = 0
    var hasReceivedEnd = false
    /// The number of bytes of TLS's own answers made while the network accepted nothing.
    var unsentAnswerCount = 0

    // Outbound
    /// Ciphertext that is not written to the network yet; the connection's own unsent bytes follow it.
    var output = ByteBuffer()
    var pendingWrites = PendingWrites()
    /// The number of bytes written before the handshake was complete.
    var earlyCount = 0
    var isFlushNeeded = false
    var hasSentEnd = false
    var outputClose: OutputClose?
    var closePromise: EventLoopPromise<Void>?

    var deadline: Scheduled<Void>?

    // Record buffers
    /// True if there was a record since the last check, or, without a check, since the buffers were released.
    var hadRecord = false
    /// The check whether the connection is quiet; scheduled while the buffers are kept.
    var quietCheck: Scheduled<Void>?

    /// A requested half-close that waits for the writes before it.
    struct OutputClose {
        let promise: EventLoopPromise<Void>?
    }

    init(
        configuration: OpenSSLHandlerConfiguration,
        connection: TLSConnection
    ) {
        self.configuration = configuration
        self.connection = connection
    }

    /// The negotiated parameters; nil before the handshake is complete and after the handler is removed.
    public var connectionInfo: TLSConnectionInfo? {
        switch state {
        case .idle, .handshaking: nil
        case .open, .closing, .closed: connection?.info
        }
    }

    /// Returns the chain of the peer's certificate, as ``TLSConnection/verifiedPeerChain()``; empty before the
    /// handshake is complete.
    public func verifiedPeerChain() -> [Certificate] {
        switch state {
        case .idle, .handshaking: []
        case .open, .closing, .closed: connection?.verifiedPeerChain() ?? []
        }
    }

    /// Starts the handshake if the channel is active already.
    public func handlerAdded(context: ChannelHandlerContext) {
        guard context.channel.isActive else { return }
        // With autoRead the first read() came before this handler was added.
        isReadWanted = true
        start(context)
    }

    /// Releases the connection; open promises fail.
    public func handlerRemoved(context: ChannelHandlerContext) {
        state = .closed
        cancelDeadline()
        cancelQuietCheck()
        failPending(NIOOpenSSLError(.handlerRemoved))
        connection = nil
        input = ByteBuffer()
    }

    /// Starts the handshake.
    public func channelActive(context: ChannelHandlerContext) {
        // The event comes first, as the handshake may close the channel at once.
        context.fireChannelActive()
        start(context)
    }

    /// Reports an end without close_notify as an error, and fails open promises.
    public func channelInactive(context: ChannelHandlerContext) {
        decrypt(context, isFinal: true)
        switch state {
        case .handshaking: fail(context, with: NIOOpenSSLError(.closedDuringHandshake))
        case .open where !hasReceivedEnd && !configuration.toleratesUncleanShutdown:
            fail(context, with: NIOOpenSSLError(.uncleanShutdown))
        case .idle, .open, .closing, .closed: break
        }
        state = .closed
        cancelDeadline()
        cancelQuietCheck()
        failPending(ChannelError.ioOnClosedChannel)
        context.fireChannelInactive()
    }

    /// Receives ciphertext.
    public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let ciphertext = unwrapInboundIn(data)
        switch state {
        case .closed: return
        case .idle, .handshaking: rememberOpening(ciphertext)
        case .open, .closing: break
        }
        // Data after close_notify is ignored (RFC 8446 section 6.1).
        guard !hasReceivedEnd else { return }
        undecryptedCount += ciphertext.readableBytes
        // The bytes are not copied if everything before has been decrypted.
        if input.readableBytes == 0 { input = ciphertext } else { input.writeImmutableBuffer(ciphertext) }
        if case .handshaking = state { continueHandshake(context) }
        decrypt(context)
    }

    /// Sends the answers to what was read, and reads more if the application has got no data.
    public func channelReadComplete(context: ChannelHandlerContext) {
        sendCiphertext(context)
        flushIfNeeded(context)
        releaseUnheldBuffers()
        if hasDeliveredThisCycle {
            hasDeliveredThisCycle = false
            isReadWanted = false
        } else if !hasReceivedEnd, isReadWanted || isWaitingForPeer {
            // The application has called read() once and got no data: the record is incomplete, or was one of TLS
            // itself.
            context.read()
        }
        context.fireChannelReadComplete()
    }

    /// Handles the end of the peer's stream: orderly after close_notify, an error otherwise.
    public func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case ChannelEvent.inputClosed = event else { return context.fireUserInboundEventTriggered(event) }
        decrypt(context, isFinal: true)
        switch state {
        case .handshaking: fail(context, with: NIOOpenSSLError(.closedDuringHandshake))
        case .closing: finishClose(context)
        // Reported at the peer's close_notify.
        case .open where hasReceivedEnd: break
        case .open where configuration.toleratesUncleanShutdown: peerEnded(context)
        case .open: fail(context, with: NIOOpenSSLError(.uncleanShutdown))
        case .idle, .closed: break
        }
    }

    /// Passes on an error of the network and closes the channel.
    public func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch state {
        case .closed: context.fireErrorCaught(error)
        case .idle, .handshaking, .open, .closing: fail(context, with: error)
        }
    }

    private var isWaitingForPeer: Bool {
        switch state {
        case .handshaking, .closing: true
        case .idle, .open, .closed: false
        }
    }

    private func rememberOpening(_ ciphertext: ByteBuffer) {
        let missing = PlainHTTP.prefixSize - opening.count
        if missing > 0 { opening.append(contentsOf: ciphertext.readableBytesView.prefix(missing)) }
    }
}

// It is made and used on one event loop; only the context is used on several threads.
@available(*, unavailable)
extension OpenSSLHandler: Sendable {}
