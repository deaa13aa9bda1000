// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
internal import NIOOpenSSL

/// An HTTP/1 connection: plaintext in, plaintext out, one request after the other.
///
/// What the responder answers at once is answered from here, all responses to one read in one write. For everything else
/// an ``Exchange`` runs in a task, and the connection takes no further request until its response is written, so the
/// order stays.
final class HTTP1Handler: LoopMember, ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// What the connection is about.
    enum Phase {
        /// TLS is being set up.
        case handshaking
        /// A request may come.
        case head
        /// A request is being answered, or the rest of its body taken in.
        case busy
        /// The last response is written; what still comes is dropped until the client is gone too.
        case lingering
        case closed
    }

    /// How long a client may take to close after the last response, in nanoseconds.
    private static let lingerTime: UInt64 = 5_000_000_000
    /// How many steps a connection takes before others have their turn: a request is one, or two with a body.
    private static let turn = 32
    /// How much may be taken in ahead of its turn, in bytes.
    private static let readAhead = 16_384

    let loop: ConnectionLoop
    var context: ChannelHandlerContext?
    var phase = Phase.handshaking
    var connection = Connection(peer: nil)
    /// What has come and has not been taken.
    var input = ByteBuffer()
    var body: BodyReader?
    var exchange: Exchange?
    /// Whether the connection ends with the response to the request that is being answered.
    var closesAfterResponse = false

    let onEnd: () -> Void
    let onError: (any Error, Connection) -> Void
    private var scanner = HeadScanner()
    private var hasSkippedLine = false
    private var isReadingHead = false
    private var hasPeerEnded = false
    private var isFirst = true
    private var isProcessing = false
    private var isReadPending = false
    private var isTurnScheduled = false
    private var isRetired = false
    private var isFlushScheduled = false
    private var unflushedCount = 0
    private var isWritable = true
    /// When the phase began, or the head being read; nanoseconds.
    private var since: UInt64
    /// When the client stopped taking what is sent; nil while it does.
    private var blockedSince: UInt64?
    /// When the exchange began to wait for a part of its response to be sent; nil while it does not.
    private var awaitedSince: UInt64?
    /// How many bytes waited to be sent at the last look.
    private var waitingCount = 0
    /// Whether the client has everything, and only its own end is waited for.
    private var isSent = false

    /// - Parameters:
    ///   - loop: The event loop's share.
    ///   - onError: Told of what goes wrong with the connection.
    ///   - onEnd: Called once, when the connection has ended.
    init(
        _ loop: ConnectionLoop,
        onError: @escaping (any Error, Connection) -> Void,
        onEnd: @escaping () -> Void
    ) {
        self.loop = loop
        self.onError = onError
        self.onEnd = onEnd
        since = loop.now
    }

    // MARK: - The channel

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        connection = Connection(peer: context.channel.remoteAddress?.ipAddress)
        loop.insert(self)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        end()
        // It holds on to this handler.
        self.context = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let handshake as TLSHandshakeCompleted:
            guard case .handshaking = phase else { break }
            takeNote(of: handshake, context)
            if handshake.negotiatedProtocol == Self.http2 { return handOver(context) }
            enter(.head)
            if loop.isDraining { close() }
        case ChannelEvent.inputClosed: peerEnded(context)
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    private func takeNote(of handshake: TLSHandshakeCompleted, _ context: ChannelHandlerContext) {
        do {
            let tls = try context.pipeline.syncOperations.handler(type: OpenSSLServerHandler.self)
            let chain = tls.verifiedPeerChain()
            connection = Connection(peer: connection.peer, serverName: handshake.serverName, clientChain: chain)
        } catch {
            // Without a TLS handler in front there is no certificate.
            connection = Connection(peer: connection.peer, serverName: handshake.serverName)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .closed = phase { return }
        var bytes = unwrapInboundIn(data)
        if input.readableBytes == 0 {
            input = bytes
        } else {
            // Or what has been taken would never go, where a read never ends with a request.
            if input.writableBytes < bytes.readableBytes { input.discardReadBytes() }
            input.writeBuffer(&bytes)
        }
        process()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        isWritable = context.channel.isWritable
        blockedSince = isWritable ? nil : loop.now
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

    // MARK: - Time

    override func expire(_ now: UInt64) {
        let times = loop.times
        let elapsed = now &- since
        noteProgress(now)
        if let blockedSince, now &- blockedSince > times.write { return abort() }
        if let awaitedSince, now &- awaitedSince > times.write { return abort() }
        switch phase {
        case .handshaking: if elapsed > times.handshake { abort() }
        // What has come waits for the responses before it to be taken.
        case .head where !isWritable: break
        case .head where input.readableBytes > 0: if elapsed > times.head { refuse(.late) }
        case .head: if elapsed > (isFirst ? times.head : times.idle) { close() }
        case .busy where exchange?.takesBody == false: body?.excuse(UInt64(ConnectionLoop.tick.nanoseconds))
        case .busy: if let body, body.isTooSlow(now, loop) { refuse(.late) }
        case .lingering: if elapsed > (isSent ? Self.lingerTime : times.write) { abort() }
        case .closed: break
        }
    }

    override func drain() {
        switch phase {
        case .head where input.readableBytes == 0: close()
        case .handshaking: abort()
        case .busy: closesAfterResponse = true
        case .head, .lingering, .closed: break
        }
    }

    override func retire() {
        isRetired = true
        drain()
    }

    override func abort() {
        guard case .closed = phase else {
            end()
            context?.close(mode: .all, promise: nil)
            return
        }
    }

    /// Lets go of everything, once.
    private func end() {
        guard case .closed = phase else {
            phase = .closed
            input = ByteBuffer()
            body = nil
            exchange?.cancel()
            exchange = nil
            loop.remove(self)
            onEnd()
            return
        }
    }

    /// Gives a client that takes what is sent, however slowly, its time anew.
    ///
    /// The system asks for more by 32 KiB at a time, so that is how much has to be taken.
    private func noteProgress(_ now: UInt64) {
        guard blockedSince != nil || awaitedSince != nil, let context, let options = context.channel.syncOptions else {
            return
        }
        do {
            let waiting = try options.getOption(.bufferedWritableBytes)
            if waiting < waitingCount {
                if blockedSince != nil { blockedSince = now }
                if awaitedSince != nil { awaitedSince = now }
            }
            waitingCount = waiting
        } catch {
            // A channel that cannot tell is judged by whether it takes anything at all.
        }
    }

    /// Leaves the loop's list, and tells nobody: another handler takes the connection on.
    func leave() {
        phase = .closed
        loop.remove(self)
    }

    private func enter(_ phase: Phase) {
        // Writing may have ended the connection, and there is no way back.
        if case .closed = self.phase { return }
        self.phase = phase
        since = loop.now
    }

    // MARK: - Requests

    /// Does what can be done with what is here.
    func process() {
        guard !isProcessing, let context else { return }
        isProcessing = true
        var count = 0
        while count < Self.turn, advance(context) { count += 1 }
        isProcessing = false
        flush(context)
        if count == Self.turn, !isTurnScheduled {
            // A read may hold thousands of requests, and others wait too.
            isTurnScheduled = true
            context.eventLoop.assumeIsolated().execute {
                self.isTurnScheduled = false
                self.process()
            }
        }
        if hasPeerEnded, !isTurnScheduled { endIfNothingComes() }
        if isReadPending, mayRead {
            isReadPending = false
            context.read()
        }
    }

    private func advance(_ context: ChannelHandlerContext) -> Bool {
        switch phase {
        case .handshaking, .closed: return false
        case .head: return input.readableBytes > 0 && isWritable && takeHead(context)
        case .busy: return takeBody(context)
        case .lingering:
            input = ByteBuffer()
            return false
        }
    }

    /// Ends the connection where what is here cannot become whole any more, as the client has ended its side.
    private func endIfNothingComes() {
        switch phase {
        // What is there was looked at and is no whole head, unless it waits for responses to be taken.
        case .head: if isWritable || input.readableBytes == 0 { close() }
        // A body that was cut off is no request; a whole one is answered.
        case .busy where body != nil && input.readableBytes == 0:
            if exchange?.hasBegunResponse ?? false { abort() } else { close() }
        case .handshaking, .busy, .lingering, .closed: break
        }
    }

    private func takeHead(_ context: ChannelHandlerContext) -> Bool {
        do throws(RequestFault) {
            guard let length = try scanner.end(of: input.readableBytesUInt8Span, loop.limits) else {
                // The time begins with the first byte, or one byte now and then would buy more of it.
                if !isReadingHead { since = loop.now }
                isReadingHead = true
                return false
            }
            scanner = HeadScanner()
            isReadingHead = false
            if length <= 2 {
                // RFC 9112 section 2.2 has one empty line before a request ignored.
                guard !hasSkippedLine, length == 2 else { throw .malformed("an empty line in place of a request") }
                hasSkippedLine = true
                input.moveReaderIndex(forwardBy: length)
                return true
            }
            hasSkippedLine = false
            let facts = try loop.parser.parse(
                input.readableBytesUInt8Span.extracting(first: length),
                into: &loop.fields
            )
            guard let bytes = input.readSlice(length: length) else { return false }
            if input.readableBytes == 0 { input = ByteBuffer() }
            try answer(RequestHead(bytes: bytes, fields: loop.fields, facts: facts), context)
            return true
        } catch {
            refuse(error)
            return false
        }
    }

    private func answer(_ head: RequestHead, _ context: ChannelHandlerContext) throws(RequestFault) {
        isFirst = false
        since = loop.now
        let facts = head.facts
        body = BodyReader(facts.body, began: loop.now)
        if case .length(let length) = facts.body, length > loop.limits.body {
            throw .bodyTooLong
        }
        closesAfterResponse = !facts.isKeptAlive || loop.isDraining || isRetired
        switch loop.responder.respond(to: head, on: connection) {
        case .now(let response):
            // Whether a client that waits for a go-ahead still sends its body is for nobody to know.
            if facts.expectsContinue, body != nil { closesAfterResponse = true }
            write(response, to: facts)
            finishResponse(context)
        case .later(let produce):
            if facts.expectsContinue, body != nil { loop.output.writeStaticString("HTTP/1.1 100 Continue\r\n\r\n") }
            enter(.busy)
            let exchange = Exchange(self, head, hasBody: body != nil)
            self.exchange = exchange
            exchange.start(produce)
        }
    }

    private func takeBody(_ context: ChannelHandlerContext) -> Bool {
        if body != nil, input.readableBytes > 0, exchange?.takesBody ?? true {
            var data = ByteBuffer()
            do throws(RequestFault) {
                try body?.read(&input, into: &data, loop.limits)
            } catch {
                refuse(error)
                return false
            }
            if data.readableBytes > 0 { exchange?.deliver(data) }
            if body?.isDone ?? false {
                body = nil
                exchange?.finishBody()
            }
            if input.readableBytes == 0 { input = ByteBuffer() }
        }
        guard body == nil, exchange == nil else { return false }
        guard !closesAfterResponse else {
            linger(context)
            return false
        }
        enter(.head)
        return true
    }

    /// Goes on to the next request, or to the connection's end.
    func finishResponse(_ context: ChannelHandlerContext) {
        exchange = nil
        awaitedSince = nil
        if closesAfterResponse {
            flush(context)
            linger(context)
        } else if body != nil {
            enter(.busy)
        } else {
            enter(.head)
        }
    }

    /// Answers what cannot be taken for a request, and ends the connection.
    private func refuse(_ fault: RequestFault) {
        guard let context else { return }
        let hasBegunResponse = exchange?.hasBegunResponse ?? false
        // The request may have its answer already, and only its body is bad: a second answer would be taken for that to the
        // next request.
        var isAnswered = false
        if case .busy = phase { isAnswered = exchange == nil }
        exchange?.cancel()
        exchange = nil
        body = nil
        guard !hasBegunResponse else { return abort() }
        closesAfterResponse = true
        if !isAnswered { write(loop.responder.respond(to: fault, on: connection), to: nil) }
        flush(context)
        linger(context)
    }

    private func peerEnded(_ context: ChannelHandlerContext) {
        hasPeerEnded = true
        switch phase {
        case .handshaking: abort()
        case .head, .busy: process()
        case .lingering: if isSent { abort() }
        case .closed: break
        }
    }

    // MARK: - Responses

    private func write(_ response: PreparedResponse, to facts: RequestHead.Facts?) {
        loop.output.writeImmutableBuffer(response.head)
        ResponseEncoder.finish(date: loop.date, option(facts?.version ?? .http11), into: &loop.output)
        if facts?.method != .head { loop.output.writeImmutableBuffer(response.body) }
        if let context, loop.output.readableBytes > ConnectionLoop.outputSize { flush(context) }
    }

    func option(_ version: RequestHead.Version) -> ResponseEncoder.ConnectionOption {
        if closesAfterResponse { return .close }
        return version == .http10 ? .keepAlive : .implied
    }

    /// Hands on the responses that have been put together, to be sent at the end of the event loop's round.
    private func flush(_ context: ChannelHandlerContext) {
        guard loop.output.readableBytes > 0 else { return }
        unflushedCount += loop.output.readableBytes
        context.write(wrapOutboundOut(loop.takeOutput()), promise: nil)
        if unflushedCount > ConnectionLoop.outputSize {
            flushNow()
        } else if !isFlushScheduled {
            isFlushScheduled = true
            loop.flushLater(self)
        }
    }

    /// Sends what has been handed on.
    override func flushNow() {
        isFlushScheduled = false
        guard unflushedCount > 0 else { return }
        unflushedCount = 0
        context?.flush()
    }

    /// Takes note that a part of the response is on its way, until it is sent.
    func awaitSent(_ sent: EventLoopFuture<Void>) {
        awaitedSince = loop.now
        sent.assumeIsolated().whenComplete { [weak self] _ in self?.awaitedSince = nil }
    }

    /// Closes in an orderly way, nothing being left to say, as soon as everything that was said is sent.
    private func close() {
        guard let context, !isEnding else { return }
        settle()
        // First of all, for sending may call back into this handler.
        enter(.lingering)
        flush(context)
        flushNow()
        let sent = context.eventLoop.makePromise(of: Void.self)
        sent.futureResult.assumeIsolated().whenComplete { _ in self.abort() }
        // Behind everything else.
        context.writeAndFlush(wrapOutboundOut(ByteBuffer()), promise: sent)
    }

    private var isEnding: Bool {
        switch phase {
        case .lingering, .closed: true
        case .handshaking, .head, .busy: false
        }
    }

    /// Lets go of the request and of what may come after it.
    private func settle() {
        input = ByteBuffer()
        body = nil
        exchange?.cancel()
        exchange = nil
        isSent = false
    }

    /// Says that nothing more will come, and waits for the client to have read that.
    ///
    /// Closing at once would have the system answer what the client still sends by a reset, and that may take the
    /// response from it (RFC 9112 section 9.6).
    private func linger(_ context: ChannelHandlerContext) {
        guard !isEnding else { return }
        settle()
        guard !hasPeerEnded else { return close() }
        enter(.lingering)
        flushNow()
        let sent = context.eventLoop.makePromise(of: Void.self)
        sent.futureResult.assumeIsolated().whenSuccess { self.lastIsSent() }
        context.close(mode: .output, promise: sent)
    }

    private func lastIsSent() {
        guard case .lingering = phase else { return }
        since = loop.now
        isSent = true
        if hasPeerEnded { abort() }
    }

    private var mayRead: Bool {
        switch phase {
        case .handshaking, .lingering: true
        case .head: isWritable && !isTurnScheduled
        case .busy: input.readableBytes < Self.readAhead && (exchange?.takesBody ?? true)
        case .closed: true
        }
    }
}
