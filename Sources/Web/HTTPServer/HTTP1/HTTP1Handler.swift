// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import NIOCore
internal import NIOOpenSSL

/// An HTTP/1 connection.
///
/// It reads and writes plaintext, and handles one request after the other. Responses that the responder returns at once
/// are written here, those to all requests of one read together. Other responses are produced by an ``HTTP1Exchange``
/// in a task. The next request is handled after that response is written, so the order of responses is kept.
///
/// ``State`` and the functions that change it are in `HTTP1Handler+State.swift`.
final class HTTP1Handler: EventLoopConnection, ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    let loop: EventLoopState
    /// The place among all connections; nil if the connection is not counted.
    let place: ConnectionPlace?
    let onError: (any Error, Connection) -> Void
    /// Called once, when the connection has ended.
    let onEnd: () -> Void
    var context: ChannelHandlerContext?
    var connection = Connection(peer: nil)
    private(set) var state = State.handshaking
    var deadlines: ConnectionDeadlines

    // The request
    /// The received bytes that are not processed yet.
    var input = ByteBuffer()
    var scanner = HeadScanner()
    /// The reader of the body; nil if the body is complete.
    var body: BodyReader?
    /// The exchange of the request while ``State/answering``.
    var exchange: HTTP1Exchange?
    /// True if the connection ends after the response to the current request, or to the next if none is in progress.
    var closesAfterResponse = false

    // The channel
    /// True if the client has closed its side of the connection.
    var hasPeerEnded = false
    /// True if `read()` was called while ``mayRead`` was false.
    var isReadPending = false
    var isProcessing = false
    var isTurnScheduled = false
    /// The number of written bytes that are not flushed yet.
    var unflushedCount = 0

    init(
        _ loop: EventLoopState,
        place: ConnectionPlace? = nil,
        onError: @escaping (any Error, Connection) -> Void,
        onEnd: @escaping () -> Void
    ) {
        self.loop = loop
        self.place = place
        self.onError = onError
        self.onEnd = onEnd
        deadlines = ConnectionDeadlines(at: loop.now)
    }

    /// Changes the state, if ``State/mayBecome(_:)`` allows it.
    func enter(_ next: State) {
        // Sending may call back into this handler and end the connection. The function that was sending may then
        // request a change that is no longer allowed.
        guard state.mayBecome(next) else { return }
        state = next
        deadlines.restart(at: loop.now)
    }

    // MARK: - The channel

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        connection = Connection(peer: context.channel.remoteAddress?.ipAddress)
        loop.insert(self)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        end()
        // The context holds a reference to this handler.
        self.context = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let handshake as TLSHandshakeCompleted:
            guard state == .handshaking else { break }
            recordHandshake(handshake, context: context)
            loop.onHandshake?(handshake)
            if handshake.negotiatedProtocol == Self.http2 { return switchToHTTP2(context) }
            enter(.awaitingRequest)
            if loop.isDraining { close() }
        case ChannelEvent.inputClosed: peerEnded()
        case is ConnectionEviction: if isIdle { abort() }
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    private func recordHandshake(_ handshake: TLSHandshakeCompleted, context: ChannelHandlerContext) {
        // A pipeline without a TLS handler has no certificate.
        let chain = (try? context.pipeline.syncOperations.handler(type: OpenSSLHandler.self))?.verifiedPeerChain()
        connection = Connection(peer: connection.peer, serverName: handshake.serverName, clientChain: chain ?? [])
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if state == .closed { return }
        var bytes = unwrapInboundIn(data)
        if input.readableBytes == 0 {
            input = bytes
        } else {
            // The processed bytes are discarded. Otherwise the buffer would grow forever if no read ends with a
            // complete request.
            if input.writableBytes < bytes.readableBytes { input.discardReadBytes() }
            input.writeBuffer(&bytes)
        }
        process()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        deadlines.recordWritability(context.channel.isWritable, at: loop.now)
        process()
        context.fireChannelWritabilityChanged()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        onError(error, connection)
        abort()
    }

    func read(context: ChannelHandlerContext) {
        if mayRead {
            isReadPending = false
            context.read()
        } else {
            isReadPending = true
        }
    }

    // MARK: - The event loop

    override func closeIfExpired(at now: UInt64) {
        let (times, elapsed) = (loop.times, deadlines.elapsed(at: now))
        place?.recordIdleTime(isIdle ? elapsed : nil)
        extendWriteDeadline(now)
        if deadlines.isWriteOverdue(at: now, times: times) { return abort() }
        switch state {
        case .handshaking: if elapsed > times.handshake { abort() }
        // The next request is not read until the client has read the responses before it.
        case .awaitingRequest where !deadlines.isWritable: break
        case .awaitingRequest where input.readableBytes > 0: if elapsed > times.header { refuse(.timedOut) }
        case .awaitingRequest: if deadlines.isRequestOverdue(at: now, times: times) { close() }
        // The client was not asked for the body, so this time is not counted against the client.
        case .answering where exchange?.isBodyWithheld ?? false:
            body?.exclude(UInt64(EventLoopState.tick.nanoseconds))
        case .answering, .discardingBody: if let body, body.isTooSlow(at: now, times: times) { refuse(.timedOut) }
        case .sendingLast: if elapsed > times.write { abort() }
        case .lingering: if elapsed > times.linger { abort() }
        case .closed: break
        }
    }

    override func drain() {
        switch state {
        case .handshaking: abort()
        case .awaitingRequest where input.readableBytes == 0: close()
        case .awaitingRequest, .answering, .discardingBody: closesAfterResponse = true
        case .sendingLast, .lingering, .closed: break
        }
    }

    override func abort() {
        if state == .closed { return }
        end()
        context?.close(mode: .all, promise: nil)
    }

    override func flushNow() {
        guard unflushedCount > 0 else { return }
        unflushedCount = 0
        context?.flush()
    }
}

extension HTTP1Handler: RemovableChannelHandler {
    /// The name of HTTP/2 in TLS's application-layer protocol negotiation (RFC 9113 section 3.2).
    static let http2 = "h2"

    /// Replaces this handler with an ``HTTP2Handler``.
    ///
    /// It is called after the TLS handshake, before any plaintext arrives. The connection stays counted by the
    /// ``ConnectionCounter``.
    func switchToHTTP2(_ context: ChannelHandlerContext) {
        leaveLoop()
        let successor = HTTP2Handler(loop, place: place, connection: connection, onError: onError, onEnd: onEnd)
        let operations = context.pipeline.syncOperations
        do {
            try operations.addHandlers(successor.makeHandlers(), position: .after(self))
            successor.begin()
            operations.removeHandler(context: context, promise: nil)
        } catch {
            onError(error, connection)
            successor.end()
            context.close(mode: .all, promise: nil)
        }
    }
}
