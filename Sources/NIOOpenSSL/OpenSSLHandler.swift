// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import NIOCore
public import OpenSSLKit

/// What the TLS handlers of both sides have in common: ciphertext below, plaintext above.
///
/// It shakes hands as soon as the channel is active, keeps writes back until that is done, and answers every fault in
/// the same way: an alert to the peer where TLS has one, all promises failed, one ``NIOOpenSSLError`` through
/// `errorCaught`, the channel closed. Plaintext is handed on only after `read()` has asked for it. Like every handler
/// it belongs to one channel and runs on its event loop.
public class OpenSSLHandler: ChannelDuplexHandler {
    /// Ciphertext from the network.
    public typealias InboundIn = ByteBuffer
    /// Plaintext to the application.
    public typealias InboundOut = ByteBuffer
    /// Plaintext from the application.
    public typealias OutboundIn = ByteBuffer
    /// Ciphertext to the network.
    public typealias OutboundOut = ByteBuffer

    /// Where the handler stands; it never goes back.
    enum State {
        /// The channel is not active yet.
        case idle
        case handshaking
        case open
        /// The application has closed, close_notify is sent, the peer's is awaited.
        case closing
        /// The channel is closed or is being closed.
        case closed
    }

    let configuration: OpenSSLHandlerConfiguration
    var connection: TLSConnection?
    var state = State.idle

    // Inbound
    /// Ciphertext that OpenSSL has not taken yet: the application has not asked for more.
    var input = ByteBuffer()
    /// The peer's first bytes, kept until the handshake is done.
    var opening: [UInt8] = []
    /// Whether the application has asked for data that it has not had yet.
    var isReadWanted = false
    var hasDeliveredThisCycle = false
    /// Ciphertext taken in since plaintext last came out: how large a buffer to make for it.
    var undecryptedCount = 0
    var hasReceivedEnd = false
    /// How many bytes of answers of TLS itself were made while the network took nothing.
    var unsentAnswerCount = 0

    // Outbound
    /// Ciphertext that the network has not been handed yet; what the connection has unsent comes after it.
    var output = ByteBuffer()
    var pendingWrites = PendingWrites()
    /// How much was written before the handshake was done.
    var earlyCount = 0
    var isFlushNeeded = false
    var hasSentEnd = false
    var outputClose: OutputClose?
    var closePromise: EventLoopPromise<Void>?

    var deadline: Scheduled<Void>?

    // Record buffers
    /// Whether there was a record since the last check, or, without a check, since the buffers were let go.
    var hadRecord = false
    /// Looks whether the connection is quiet; there while the buffers are kept.
    var quietCheck: Scheduled<Void>?

    /// A half-close that was asked for and waits for its turn.
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

    /// What was negotiated; nil before the handshake is done and after the handler is removed.
    public var connectionInfo: TLSConnectionInfo? {
        switch state {
        case .idle, .handshaking: nil
        case .open, .closing, .closed: connection?.info
        }
    }

    /// The chain of the peer's certificate, as ``TLSConnection/verifiedPeerChain()``; empty before the handshake is done.
    public func verifiedPeerChain() -> [Certificate] {
        switch state {
        case .idle, .handshaking: []
        case .open, .closing, .closed: connection?.verifiedPeerChain() ?? []
        }
    }

    /// Begins the handshake if the channel is active already.
    public func handlerAdded(context: ChannelHandlerContext) {
        guard context.channel.isActive else { return }
        // With autoRead the first read() has passed before this handler was there.
        isReadWanted = true
        start(context)
    }

    /// Lets go of the connection; promises still open fail.
    public func handlerRemoved(context: ChannelHandlerContext) {
        state = .closed
        cancelDeadline()
        cancelQuietCheck()
        failPending(NIOOpenSSLError(.handlerRemoved))
        connection = nil
        input = ByteBuffer()
    }

    /// Begins the handshake.
    public func channelActive(context: ChannelHandlerContext) {
        // First the event, as the handshake may close the channel at once.
        context.fireChannelActive()
        start(context)
    }

    /// Judges how the connection has ended and fails what is still open.
    public func channelInactive(context: ChannelHandlerContext) {
        decrypt(context, unasked: true)
        switch state {
        case .handshaking: fail(context, NIOOpenSSLError(.closedDuringHandshake))
        case .open where !hasReceivedEnd && !configuration.toleratesUncleanShutdown:
            fail(context, NIOOpenSSLError(.uncleanShutdown))
        case .idle, .open, .closing, .closed: break
        }
        state = .closed
        cancelDeadline()
        cancelQuietCheck()
        failPending(ChannelError.ioOnClosedChannel)
        context.fireChannelInactive()
    }

    /// Takes in ciphertext.
    public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let ciphertext = unwrapInboundIn(data)
        switch state {
        case .closed: return
        case .idle, .handshaking: rememberOpening(ciphertext)
        case .open, .closing: break
        }
        // Nothing follows close_notify (RFC 8446 6.1), and what does all the same is nobody's.
        guard !hasReceivedEnd else { return }
        undecryptedCount += ciphertext.readableBytes
        // Without a copy if everything before has been taken.
        if input.readableBytes == 0 { input = ciphertext } else { input.writeImmutableBuffer(ciphertext) }
        if case .handshaking = state { shakeHands(context) }
        decrypt(context)
    }

    /// Sends what the reads have produced, and asks for more if the application still waits.
    public func channelReadComplete(context: ChannelHandlerContext) {
        sendCiphertext(context)
        flushIfNeeded(context)
        releaseUnheldBuffers()
        if hasDeliveredThisCycle {
            hasDeliveredThisCycle = false
            isReadWanted = false
        } else if !hasReceivedEnd, isReadWanted || isWaitingForPeer {
            // The application asked once and is owed data: the record is not complete, or was none of its own.
            context.read()
        }
        context.fireChannelReadComplete()
    }

    /// Takes an end of the stream for what it is: right after close_notify, and cut off otherwise.
    public func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case ChannelEvent.inputClosed = event else { return context.fireUserInboundEventTriggered(event) }
        decrypt(context, unasked: true)
        switch state {
        case .handshaking: fail(context, NIOOpenSSLError(.closedDuringHandshake))
        case .closing: finishClose(context)
        // Told above at the peer's close_notify.
        case .open where hasReceivedEnd: break
        case .open where configuration.toleratesUncleanShutdown: peerEnded(context)
        case .open: fail(context, NIOOpenSSLError(.uncleanShutdown))
        case .idle, .closed: break
        }
    }

    /// Passes on an error of the network and closes the channel.
    public func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch state {
        case .closed: context.fireErrorCaught(error)
        case .idle, .handshaking, .open, .closing: fail(context, error)
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

// Made on one event loop and used there; what crosses threads is the context alone.
@available(*, unavailable)
extension OpenSSLHandler: Sendable {}
