// SPDX-License-Identifier: Apache-2.0

public import NIOCore
public import OpenSSLKit

/// The TLS handler of a connection, which must be the first handler of the channel.
///
/// It exchanges ciphertext with the network and plaintext with the application. It starts the handshake as soon as the
/// channel is active, and keeps writes until the handshake is complete. Plaintext is delivered only after a call of
/// `read()`. After an error it sends an alert if TLS defines an alert for the error, fails all promises, reports one
/// ``NIOOpenSSLError`` through `errorCaught`, and closes the channel. A handler belongs to one channel and runs on its
/// event loop.
public final class OpenSSLHandler: ChannelDuplexHandler {
    /// Ciphertext from the network.
    public typealias InboundIn = ByteBuffer
    /// Plaintext to the application.
    public typealias InboundOut = ByteBuffer
    /// Plaintext from the application.
    public typealias OutboundIn = ByteBuffer
    /// Ciphertext to the network.
    public typealias OutboundOut = ByteBuffer

    /// The state of the handler, which only changes to a later case.
    enum State {
        /// The channel is not active yet.
        case idle
        case handshaking
        case open
        /// The application has closed the channel, and close_notify is being sent.
        case closing
        /// The channel is closed or is being closed.
        case closed
    }

    let configuration: OpenSSLHandlerConfiguration
    var connection: TLSConnection?
    var state = State.idle

    // Inbound
    /// The ciphertext that is not decrypted yet, because the application has not called `read()`.
    var input = ByteBuffer()
    /// The peer's first bytes, kept until the handshake is complete.
    var firstBytes: [UInt8] = []
    /// The error of a client that speaks plain HTTP and gets a response; nil for any other connection.
    var plainHTTPError: NIOOpenSSLError?
    /// True if the application has called `read()` and has received no data yet.
    var isReadWanted = false
    var hasDeliveredThisCycle = false
    /// The bytes of ciphertext since plaintext was last decrypted, which determine the size of the next buffer.
    var undecryptedCount = 0
    var hasReceivedEnd = false
    /// The number of bytes of answers to KeyUpdates that were made while the network accepted nothing.
    var unsentAnswerCount = 0

    // Outbound
    /// The ciphertext that is not written to the network yet; the unsent bytes of `connection` follow it.
    var output = ByteBuffer()
    var pendingWrites = PendingWrites()
    /// The number of bytes that were written before the handshake was complete.
    var earlyCount = 0
    var isFlushNeeded = false
    var hasSentEnd = false
    var outputClose: OutputClose?
    var closePromise: EventLoopPromise<Void>?
    var deadline: Scheduled<Void>?

    // Record buffers
    /// True if a record was processed since the last check or, if none is scheduled, since the buffers were released.
    var hadRecord = false
    /// The scheduled check whether the connection is quiet; nil if the buffers are not kept.
    var quietCheck: Scheduled<Void>?

    /// A requested close of the outgoing direction that waits for earlier writes.
    struct OutputClose { let promise: EventLoopPromise<Void>? }

    /// Makes the handler of an accepted connection with a server's context, which all connections of a listener share.
    ///
    /// - Throws: ``OpenSSLError`` with code `invalidConfiguration` if the context is a client's, or `libraryFailure`.
    public init(
        server context: TLSContext,
        configuration: OpenSSLHandlerConfiguration = OpenSSLHandlerConfiguration()
    ) throws(OpenSSLError) {
        self.configuration = configuration
        connection = try TLSConnection.server(context: context)
    }

    /// Makes the handler of a connection to a server, with a client's context and the host name or IP address that the
    /// server's certificate must contain.
    ///
    /// - Throws: ``OpenSSLError`` with code `invalidConfiguration` if the context is a server's, `invalidName` for an
    ///   invalid server name, or `libraryFailure`.
    public init(
        client context: TLSContext,
        serverName: String,
        configuration: OpenSSLHandlerConfiguration = OpenSSLHandlerConfiguration()
    ) throws(OpenSSLError) {
        self.configuration = configuration
        connection = try TLSConnection.client(context: context, serverName: serverName)
    }

    /// Returns the verified chain of the peer's certificate, see ``TLSConnection/verifiedPeerChain()``; empty before
    /// the handshake is complete.
    public func verifiedPeerChain() -> [Certificate] {
        switch state {
        case .idle, .handshaking: []
        case .open, .closing, .closed: connection?.verifiedPeerChain() ?? []
        }
    }

    /// Starts the handshake if the channel is active already.
    public func handlerAdded(context: ChannelHandlerContext) {
        guard context.channel.isActive else { return }
        // With autoRead the first read() was called before this handler was added.
        isReadWanted = true
        start(context)
    }

    /// Releases the connection, and fails open promises.
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
        // The event is passed on before the handshake starts, because the handshake may close the channel at once.
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
        case .idle, .handshaking: keepFirstBytes(ciphertext)
        case .open, .closing: break
        }
        if let plainHTTPError { return fail(context, with: plainHTTPError) }
        // Data after close_notify is ignored (RFC 8446 section 6.1).
        guard !hasReceivedEnd else { return }
        undecryptedCount += ciphertext.readableBytes
        // The bytes are not copied if all earlier ciphertext is decrypted.
        if input.readableBytes == 0 { input = ciphertext } else { input.writeImmutableBuffer(ciphertext) }
        if case .handshaking = state { continueHandshake(context) }
        decrypt(context)
    }

    /// Sends the answers to the messages that were read, and reads more if the application has received no data.
    public func channelReadComplete(context: ChannelHandlerContext) {
        sendCiphertext(context)
        flushIfNeeded(context)
        releaseUnheldBuffers()
        if hasDeliveredThisCycle {
            hasDeliveredThisCycle = false
            isReadWanted = false
        } else if !hasReceivedEnd, isReadWanted || isWaitingForPeer {
            // The application waits for data. The record was incomplete, or contained no application data.
            context.read()
        }
        context.fireChannelReadComplete()
    }

    /// Handles the end of the peer's stream, which is an error if no close_notify has arrived before.
    public func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case ChannelEvent.inputClosed = event else { return context.fireUserInboundEventTriggered(event) }
        decrypt(context, isFinal: true)
        switch state {
        case .handshaking: fail(context, with: NIOOpenSSLError(.closedDuringHandshake))
        case .closing: finishClose(context)
        // The end was already reported when close_notify arrived.
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

    private func keepFirstBytes(_ ciphertext: ByteBuffer) {
        let missing = PlainHTTP.prefixSize - firstBytes.count
        if missing > 0 { firstBytes.append(contentsOf: ciphertext.readableBytesView.prefix(missing)) }
    }
}

// A handler is made and used on one event loop. Only its TLSContext is used by several threads.
@available(*, unavailable)
extension OpenSSLHandler: Sendable {}
