// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HummingbirdCore
internal import NIOCore

extension HTTP1Handler {
    /// The state of a connection.
    ///
    ///     handshaking -> awaitingRequest
    ///     awaitingRequest -> answering -> discardingBody -> awaitingRequest, or any step left out
    ///     awaitingRequest, answering, discardingBody -> sendingLast -> lingering
    ///     all -> closed
    enum State {
        /// TLS is being set up.
        case handshaking
        /// No request is in progress; the start of the next may have arrived. A request that is answered at once and
        /// has no body does not change the state.
        case awaitingRequest
        /// An ``Exchange`` produces the response; more of the request's body may arrive.
        case answering
        /// The response is written; the rest of the request's body is read and dropped.
        case discardingBody
        /// No request follows, and the last response is being sent.
        case sendingLast
        /// The client has received the last response and has not closed the connection yet.
        case lingering
        /// The connection is closed, or HTTP/2 has taken it over.
        case closed

        /// Returns whether a connection may go from this state to the next.
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

        /// True if the connection accepts no more requests.
        var isEnding: Bool {
            switch self {
            case .sendingLast, .lingering, .closed: true
            case .handshaking, .awaitingRequest, .answering, .discardingBody: false
            }
        }
    }

    // MARK: - Requests

    /// Starts a task that produces the response.
    func startExchange(
        _ head: RequestHead,
        producing produce: @escaping @Sendable (Request) async -> Response
    ) {
        enter(.answering)
        let exchange = Exchange(self, head: head, hasBody: body != nil)
        self.exchange = exchange
        exchange.start(produce)
    }

    /// Continues after a response: with the rest of the body, with the next request, or with the end of the connection.
    func finishResponse(_ context: ChannelHandlerContext) {
        exchange = nil
        deadlines.endAwaited()
        if closesAfterResponse {
            flush(context)
            linger(context)
        } else if body != nil {
            enter(.discardingBody)
        } else {
            enter(.awaitingRequest)
        }
    }

    /// Continues after the body of a request that is answered: with the next request, or with the end of the
    /// connection.
    ///
    /// - Returns: True if the next request may be read.
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
        // A request with a malformed body may be answered already. The client would take a second response for that to
        // its next request.
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

    /// Records that the client sends no more, and answers the requests that it has sent.
    func peerEnded() {
        hasPeerEnded = true
        switch state {
        case .handshaking, .lingering: abort()
        case .awaitingRequest, .answering, .discardingBody: process()
        case .sendingLast, .closed: break
        }
    }

    /// Ends a connection whose client sends no more, if a request or its body will stay incomplete.
    func endIfIncomplete() {
        switch state {
        // The input has been searched for a whole header, unless it waits for the client to read responses.
        case .awaitingRequest: if deadlines.isWritable || input.readableBytes == 0 { close() }
        // A request whose body is cut off is not answered; a whole one is.
        case .answering where body != nil && input.readableBytes == 0,
            .discardingBody where body != nil && input.readableBytes == 0:
            if exchange?.hasBegunResponse ?? false { abort() } else { close() }
        case .handshaking, .answering, .discardingBody, .sendingLast, .lingering, .closed: break
        }
    }

    /// Closes the connection when all responses are sent.
    func close() {
        guard let context, !state.isEnding else { return }
        dropAll()
        // The state is set before the flush, which may call back into this handler.
        enter(.sendingLast)
        flush(context)
        flushNow()
        let sent = context.eventLoop.makePromise(of: Void.self)
        sent.futureResult.assumeIsolated().whenComplete { _ in self.abort() }
        // Its promise is fulfilled after all writes before it.
        context.writeAndFlush(wrapOutboundOut(ByteBuffer()), promise: sent)
    }

    /// Closes the outgoing direction when all responses are sent, and waits for the client to close its own.
    ///
    /// If the connection were closed at once, the system would answer data that still arrives with a reset, and the
    /// client could lose the response (RFC 9112 section 9.6).
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

    /// Drops the request in progress and everything that has arrived after it.
    private func dropAll() {
        input = ByteBuffer()
        dropRequest()
    }

    /// Releases everything, once.
    func end() {
        if state == .closed { return }
        enter(.closed)
        dropAll()
        loop.remove(self)
        onEnd()
    }

    /// Leaves the loop's list without ``onEnd``: another handler takes over the connection.
    func leave() {
        enter(.closed)
        loop.remove(self)
    }
}
