// SPDX-License-Identifier: Apache-2.0

internal import HTTPLimits
internal import NIOCore

extension HTTP1Handler {
    /// The maximum number of steps before other connections are served: a request is one, with a body two.
    private static let maximumSteps = 32
    /// The maximum number of bytes that are read from the network while a response is in progress.
    private static let readAhead = 16_384

    var mayRead: Bool {
        switch state {
        case .handshaking, .sendingLast, .lingering, .closed: true
        case .awaitingRequest: deadlines.isWritable && !isTurnScheduled
        case .answering, .discardingBody: input.readableBytes < Self.readAhead
        }
    }

    /// Processes the input until more input is needed, responses wait for the client to read them, or the turn of this
    /// connection ends.
    func process() {
        guard !isProcessing, let context else { return }
        isProcessing = true
        var count = 0
        while count < Self.maximumSteps, advance(context) { count += 1 }
        isProcessing = false
        flush(context)
        if count == Self.maximumSteps, !isTurnScheduled {
            // One read may contain thousands of requests. Other connections must not wait for all of them.
            isTurnScheduled = true
            context.eventLoop.assumeIsolated().execute {
                self.isTurnScheduled = false
                self.process()
            }
        }
        if hasPeerEnded, !isTurnScheduled { endIfIncomplete() }
        if isReadPending, mayRead {
            isReadPending = false
            context.read()
        }
    }

    /// Does one step of processing; true if another step may be possible.
    private func advance(_ context: ChannelHandlerContext) -> Bool {
        switch state {
        case .handshaking, .closed: return false
        case .awaitingRequest: return input.readableBytes > 0 && deadlines.isWritable && readHead(context)
        case .answering, .discardingBody: return readBody(context)
        case .sendingLast, .lingering:
            input = ByteBuffer()
            return false
        }
    }

    private func readHead(_ context: ChannelHandlerContext) -> Bool {
        do throws(RequestFault) {
            let hadBegun = scanner.hasBegun
            guard let length = try scanner.end(of: input.readableBytesUInt8Span, limits: loop.limits) else {
                // The time limit begins with the first byte of the header. Later bytes do not extend it.
                if !hadBegun { deadlines.restart(at: loop.now) }
                return false
            }
            if length <= 2 {
                // RFC 9112 section 2.2: one empty line before a request is ignored.
                guard !scanner.followsEmptyLine, length == 2 else {
                    throw .malformed("an empty line in place of a request")
                }
                scanner = HeadScanner(followsEmptyLine: true)
                input.moveReaderIndex(forwardBy: length)
                return true
            }
            scanner = HeadScanner()
            let summary = try loop.parser.parse(
                input.readableBytesUInt8Span.extracting(first: length),
                into: &loop.fields
            )
            guard let bytes = input.readSlice(length: length) else { return false }
            if input.readableBytes == 0 { input = ByteBuffer() }
            try answer(RequestHead(bytes: bytes, fields: loop.fields, summary: summary), context: context)
            return true
        } catch {
            refuse(error)
            return false
        }
    }

    private func answer(_ head: RequestHead, context: ChannelHandlerContext) throws(RequestFault) {
        deadlines.recordRequest()
        deadlines.restart(at: loop.now)
        let summary = head.summary
        body = BodyReader(summary.body, at: loop.now)
        if case .length(let length) = summary.body, length > loop.limits.body {
            throw .bodyTooLong
        }
        if !summary.isKeptAlive { closesAfterResponse = true }
        switch loop.responder.respond(to: head, on: connection) {
        case .immediate(let response), .refused(let response):
            // The client has waited for 100 (Continue). Now it may send its body or skip the body, so the server would
            // not know where the next request begins.
            if summary.expectsContinue, body != nil { closesAfterResponse = true }
            write(response, to: summary)
            finishResponse(context)
        case .prepared(let beginsOnEventLoop, let prepare):
            if summary.expectsContinue, body != nil { closesAfterResponse = true }
            beginExchange(head).prepare(onEventLoop: beginsOnEventLoop, prepare)
        case .deferred(let produce):
            if case .length(let length) = summary.body, length > ResponseMode.maximumBody { throw .bodyTooLong }
            if summary.expectsContinue, body != nil { loop.output.writeStaticString("HTTP/1.1 100 Continue\r\n\r\n") }
            beginExchange(head).start(hasBody: body != nil, produce)
        }
    }

    private func readBody(_ context: ChannelHandlerContext) -> Bool {
        if body != nil, input.readableBytes > 0 {
            var data = ByteBuffer()
            do throws(RequestFault) {
                try body?.read(&input, into: &data, limits: loop.limits)
            } catch {
                refuse(error)
                return false
            }
            guard exchange?.receive(&data) ?? true else {
                refuse(.bodyTooLong)
                return false
            }
            if body?.isDone ?? false {
                body = nil
                exchange?.finishBody()
            }
            if input.readableBytes == 0 { input = ByteBuffer() }
        }
        guard body == nil, exchange == nil else { return false }
        return finishBody(context)
    }

    // MARK: - Writing

    /// Appends a response to the output buffer of the event loop; `request` is nil if it could not be parsed.
    func write(_ response: PreparedResponse, to request: RequestHead.Summary?) {
        loop.output.writeImmutableBuffer(response.head)
        let option = connectionOption(for: request?.version ?? .http11)
        ResponseEncoder.finish(date: loop.date, connection: option, into: &loop.output)
        if request?.method != .head { loop.output.writeImmutableBuffer(response.body) }
        if let context, loop.output.readableBytes > EventLoopState.outputSize { flush(context) }
    }

    func connectionOption(for version: RequestHead.Version) -> ResponseEncoder.ConnectionOption {
        if closesAfterResponse { return .close }
        return version == .http10 ? .keepAlive : .implied
    }

    /// Writes the output buffer to the channel, which is flushed at the end of the event loop's round.
    func flush(_ context: ChannelHandlerContext) {
        guard loop.output.readableBytes > 0 else { return }
        let isFirst = unflushedCount == 0
        unflushedCount += loop.output.readableBytes
        context.write(wrapOutboundOut(loop.takeOutput()), promise: nil)
        if unflushedCount > EventLoopState.outputSize {
            flushNow()
        } else if isFirst {
            loop.flushLater(self)
        }
    }

    /// Starts the time limit for sending a part of a response, while the response's task waits for the sending.
    func startWriteDeadline(_ sent: EventLoopFuture<Void>) {
        deadlines.beginAwaitedWrite(at: loop.now)
        sent.assumeIsolated().whenComplete { [weak self] _ in self?.deadlines.endAwaitedWrite() }
    }

    /// Restarts the time limit for writing if the client has read some bytes.
    func extendWriteDeadline(_ now: UInt64) {
        // On a channel without this option the time limit is not restarted.
        guard deadlines.isWriteTimed, let context, let options = context.channel.syncOptions,
            let unsentCount = try? options.getOption(.bufferedWritableBytes)
        else { return }
        deadlines.recordUnsentCount(unsentCount, at: now)
    }
}
