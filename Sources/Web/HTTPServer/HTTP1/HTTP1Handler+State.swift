// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

extension HTTP1Handler {
    /// The state of a connection.
    ///
    ///     handshaking -> awaitingRequest
    ///     awaitingRequest -> answering -> discardingBody -> awaitingRequest (answering or discardingBody may be skipped)
    ///     awaitingRequest, answering, discardingBody -> sendingLast -> lingering
    ///     all -> closed
    enum State {
        /// The TLS handshake is in progress.
        case handshaking
        /// No request is in progress. Part of the next request may have arrived. A request that is answered at once and
        /// has no body does not change the state.
        case awaitingRequest
        /// An ``HTTP1Exchange`` produces the response. More of the request's body may arrive.
        case answering
        /// The response is written. The rest of the request's body is read and dropped.
        case discardingBody
        /// No further request is accepted, and the last response is being sent.
        case sendingLast
        /// The last response is sent, and the client has not closed the connection yet.
        case lingering
        /// The connection is closed, or HTTP/2 has taken it over.
        case closed

        func mayBecome(_ next: State) -> Bool {
            switch next {
            case .handshaking: false
            case .awaitingRequest: !isEnding
            case .answering: self == .awaitingRequest
            case .discardingBody: self == .awaitingRequest || self == .answering
            case .sendingLast: self == .awaitingRequest || self == .answering || self == .discardingBody
            case .lingering: self == .sendingLast
            case .closed: self != .closed
            }
        }

        var isEnding: Bool {
            switch self {
            case .sendingLast, .lingering, .closed: true
            case .handshaking, .awaitingRequest, .answering, .discardingBody: false
            }
        }
    }

    // MARK: - Requests

    /// Begins an exchange, whose task produces the response.
    func beginExchange(_ head: RequestHead) -> HTTP1Exchange {
        enter(.answering)
        let exchange = HTTP1Exchange(self, head.summary)
        self.exchange = exchange
        return exchange
    }

    /// Continues after a response: reads the rest of the body, awaits the next request, or ends the connection.
    func finishResponse(_ context: ChannelHandlerContext) {
        exchange = nil
        deadlines.endAwaitedWrite()
        if closesAfterResponse {
            flush(context)
            linger(context)
        } else if body != nil {
            enter(.discardingBody)
        } else {
            enter(.awaitingRequest)
        }
    }

    /// Awaits the next request after the body of an answered request, or ends the connection; true if it may be read.
    func finishBody(_ context: ChannelHandlerContext) -> Bool {
        guard !closesAfterResponse else {
            linger(context)
            return false
        }
        enter(.awaitingRequest)
        return true
    }

    /// Answers a request that is malformed, too long or too slow, and ends the connection.
    func refuse(_ fault: RequestFault) {
        guard let context else { return }
        let hasBegunResponse = exchange?.hasBegunResponse ?? false
        // The request may be answered already if only its body is malformed. The client would misread a second response
        // as the response to its next request.
        let isAnswered = state == .discardingBody
        dropRequest()
        guard !hasBegunResponse else { return abort() }
        closesAfterResponse = true
        if !isAnswered { write(loop.responder.respond(to: fault, on: connection), to: nil) }
        flush(context)
        linger(context)
    }

    private func dropRequest() {
        exchange?.cancel()
        exchange = nil
        body = nil
    }

    // MARK: - The end

    /// True if the connection waits for its client, and no task is running.
    var isIdle: Bool {
        switch state {
        case .handshaking, .awaitingRequest, .discardingBody, .sendingLast, .lingering: true
        case .answering: exchange?.awaitsBody ?? true
        case .closed: false
        }
    }

    /// Records that the client sends no more data; complete requests are still answered.
    func peerEnded() {
        hasPeerEnded = true
        switch state {
        case .handshaking, .lingering: abort()
        case .awaitingRequest, .answering, .discardingBody: process()
        case .sendingLast, .closed: break
        }
    }

    /// Ends a connection whose client sends no more data, if the current request or its body is incomplete.
    func endIfIncomplete() {
        switch state {
        // If responses wait for the client to read them, the input may still contain complete requests.
        case .awaitingRequest: if deadlines.isWritable || input.readableBytes == 0 { close() }
        // A request whose body is cut off is not answered.
        case .answering where body != nil && input.readableBytes == 0,
            .discardingBody where body != nil && input.readableBytes == 0:
            if exchange?.hasBegunResponse ?? false { abort() } else { close() }
        case .handshaking, .answering, .discardingBody, .sendingLast, .lingering, .closed: break
        }
    }

    /// Closes the connection after all responses are sent.
    func close() {
        guard let context, !state.isEnding else { return }
        dropAll()
        // The state is set before the flush, which may call back into this handler.
        enter(.sendingLast)
        flush(context)
        flushNow()
        let sent = context.eventLoop.makePromise(of: Void.self)
        sent.futureResult.assumeIsolated().whenComplete { _ in self.abort() }
        // The promise of an empty write is fulfilled after all earlier writes.
        context.writeAndFlush(wrapOutboundOut(ByteBuffer()), promise: sent)
    }

    /// Closes the outgoing direction after all responses are sent, and waits for the client to close its direction.
    ///
    /// If the connection were closed at once, the system would answer later data of the client with a reset. The client
    /// could then lose the response (RFC 9112 section 9.6).
    private func linger(_ context: ChannelHandlerContext) {
        guard !state.isEnding else { return }
        guard !hasPeerEnded else { return close() }
        dropAll()
        enter(.sendingLast)
        flushNow()
        let sent = context.eventLoop.makePromise(of: Void.self)
        sent.futureResult.assumeIsolated().whenSuccess { self.lastResponseSent() }
        context.close(mode: .output, promise: sent)
    }

    private func lastResponseSent() {
        guard state == .sendingLast else { return }
        enter(.lingering)
        if hasPeerEnded { abort() }
    }

    private func dropAll() {
        input = ByteBuffer()
        dropRequest()
    }

    /// Drops the request and leaves the list of connections; later calls have no effect.
    func end() {
        if state == .closed { return }
        enter(.closed)
        dropAll()
        loop.remove(self)
        onEnd()
    }

    /// Leaves the list of connections without a call of ``onEnd``, because another handler takes over the connection.
    func leaveLoop() {
        enter(.closed)
        loop.remove(self)
    }
}
