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
    private var isFlushScheduled = false
    private var unflushedCount = 0
    private var isWritable = true
    /// When the phase began, or the head being read; nanoseconds.
    private var since: UInt64
    /// When the client stopped taking what is sent; 0 while it does.
    private var blockedSince: UInt64 = 0

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
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let completed as TLSHandshakeCompleted:
            guard case .handshaking = phase else { break }
            if completed.negotiatedProtocol == Self.http2 { return handOver(context) }
            enter(.head)
        case ChannelEvent.inputClosed: peerEnded(context)
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        if input.readableBytes == 0 {
            input = bytes
        } else {
            input.writeBuffer(&bytes)
        }
        process()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        isWritable = context.channel.isWritable
        blockedSince = isWritable ? 0 : loop.now
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
        if blockedSince > 0, now &- blockedSince > times.write { return abort() }
        switch phase {
        case .handshaking: if elapsed > times.handshake { abort() }
        case .head where input.readableBytes > 0: if elapsed > times.head { refuse(.late) }
        case .head: if elapsed > (isFirst ? times.head : times.idle) { close() }
        case .busy: if let body, body.isTooSlow(now, loop) { refuse(.late) }
        case .lingering: if elapsed > Self.lingerTime { abort() }
        case .closed: break
        }
    }

    override func drain() {
        switch phase {
        case .head where input.readableBytes == 0: close()
        case .handshaking: abort()
        case .head, .busy, .lingering, .closed: break
        }
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

    /// Leaves the loop's list, and tells nobody: another handler takes the connection on.
    func leave() {
        phase = .closed
        loop.remove(self)
    }

    private func enter(_ phase: Phase) {
        self.phase = phase
        since = loop.now
    }

    // MARK: - Requests

    /// Does what can be done with what is here.
    func process() {
        guard !isProcessing, let context else { return }
        isProcessing = true
        while advance(context) {}
        isProcessing = false
        flush(context)
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
            throw RequestFault(413, "the body is too long")
        }
        closesAfterResponse = !facts.isKeptAlive || loop.isDraining || hasPeerEnded && body != nil
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
        enter(.head)
        return true
    }

    /// Goes on to the next request, or to the connection's end.
    func finishResponse(_ context: ChannelHandlerContext) {
        exchange = nil
        if closesAfterResponse || hasPeerEnded && input.readableBytes == 0 {
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
        exchange?.cancel()
        exchange = nil
        body = nil
        guard !hasBegunResponse else { return abort() }
        closesAfterResponse = true
        write(loop.responder.respond(to: fault, on: connection), to: nil)
        flush(context)
        linger(context)
    }

    private func peerEnded(_ context: ChannelHandlerContext) {
        hasPeerEnded = true
        switch phase {
        case .handshaking: abort()
        case .head: close()
        // A body that was cut off is no request; a whole one is answered.
        case .busy where body != nil: abort()
        case .busy, .closed: break
        case .lingering: abort()
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

    /// Closes in an orderly way, nothing being left to say.
    private func close() {
        guard let context else { return }
        flush(context)
        flushNow()
        end()
        context.close(mode: .all, promise: nil)
    }

    /// Says that nothing more will come, and waits for the client to have read that.
    ///
    /// Closing at once would have the system answer what the client still sends by a reset, and that may take the
    /// response from it (RFC 9112 section 9.6).
    private func linger(_ context: ChannelHandlerContext) {
        if case .closed = phase { return }
        input = ByteBuffer()
        body = nil
        guard !hasPeerEnded else { return close() }
        enter(.lingering)
        flushNow()
        context.close(mode: .output, promise: nil)
    }

    private var mayRead: Bool {
        switch phase {
        case .handshaking, .lingering: true
        case .head: isWritable
        case .busy: input.readableBytes < Self.readAhead && (exchange?.takesBody ?? true)
        case .closed: true
        }
    }
}

extension RequestFault {
    static let late = RequestFault(408, "the request did not come in time")
}
