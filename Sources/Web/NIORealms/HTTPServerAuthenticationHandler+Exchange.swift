// SPDX-License-Identifier: Apache-2.0

internal import Bytes
public import NIOCore
internal import NIOHTTP1
internal import RealmVerifier

extension HTTPServerAuthenticationHandler {
    /// Processes the next part of the request, in a state that takes parts.
    func process(_ part: HTTPServerRequestPart, _ context: ChannelHandlerContext) {
        switch (state, part) {
        case (.idle, .head(let head)): begin(head, context)
        case (.answering(let exchange), .body(let body)):
            if exchange.isAccepted { return context.fireChannelRead(Self.wrapInboundOut(.body(body))) }
            discard(body, of: exchange, context)
        case (.answering(var exchange), .end(let trailers)):
            exchange.hasRequestEnded = true
            state = .answering(exchange)
            if exchange.isAccepted { context.fireChannelRead(Self.wrapInboundOut(.end(trailers))) }
            continueIfEnded(context)
        // The parser of NIO makes no such order, and a handler that does is not trusted.
        case (.idle, .body), (.idle, .end), (.answering, .head), (.checking, _), (.closed, _): close(context)
        }
    }

    // MARK: The check

    private func begin(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let headers = head.headers
        if Self.isFromOtherSite(head) { return refuse(head, .forbidden, context) }
        guard let credentials = BasicCredentials(authorization: headers["authorization"]) else {
            return refuse(head, .unauthorized, context)
        }
        let (check, client) = (check, peer(context.channel.remoteAddress, head))
        let (eventLoop, bound) = (context.eventLoop, NIOLoopBound((self, context), eventLoop: context.eventLoop))
        let task = Task {
            let result = await check(credentials, client)
            eventLoop.execute {
                let (handler, context) = bound.value
                handler.finish(result, context)
            }
        }
        state = .checking(head, task)
    }

    /// True if a page of another site has sent a request that may change something.
    ///
    /// A browser adds the credentials to it.
    ///
    /// Source: Fetch Metadata, `Sec-Fetch-Site`.
    private static func isFromOtherSite(_ head: HTTPRequestHead) -> Bool {
        guard ![.GET, .HEAD, .OPTIONS, .TRACE].contains(head.method) else { return false }
        let headers = head.headers
        return headers["sec-fetch-site"].contains { !$0.hasBytes(of: "same-origin") && !$0.hasBytes(of: "none") }
    }

    private func finish(_ result: Verification, _ context: ChannelHandlerContext) {
        // The connection may have ended meanwhile.
        guard case .checking(var head, _) = state else { return }
        switch result {
        case .accepted(let user):
            state = .answering(Exchange(head, isAccepted: true))
            head.headers.remove(name: "authorization")
            context.fireChannelRead(Self.wrapInboundOut(.head(AuthenticatedRequestHead(head: head, user: user))))
        case .unavailable: refuse(head, .serviceUnavailable, context)
        case .refused, .questions: refuse(head, .unauthorized, context)
        }
        release(context)
    }

    // MARK: The response

    /// Writes a part of the response to an accepted request.
    public func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        // Otherwise a response could be taken for that to the next request, whose user may be another one.
        guard case .answering(var exchange) = state, exchange.isAccepted, exchange.response == .open else {
            promise?.fail(ChannelError.inappropriateOperationForState)
            return
        }
        switch Self.unwrapOutboundIn(data) {
        case .head(let head) where head.status.code >= 200:
            exchange.isKeptAlive = exchange.isKeptAlive && head.isKeepAlive
            state = .answering(exchange)
            context.write(data, promise: promise)
        case .head, .body: context.write(data, promise: promise)
        case .end:
            exchange.response = .written
            state = .answering(exchange)
            context.write(data, promise: sent(context, promise))
        }
    }

    /// Answers a request that is not passed on, and discards its body.
    private func refuse(_ head: HTTPRequestHead, _ status: HTTPResponseStatus, _ context: ChannelHandlerContext) {
        // The client may send the body, or omit it because of the response, so the next bytes may be a request or not.
        let isUncertain = head.headers.contains(name: "expect")
        var exchange = Exchange(head, isAccepted: false)
        if isUncertain { (exchange.isKeptAlive, exchange.hasRequestEnded) = (false, true) }
        exchange.response = .written
        state = .answering(exchange)
        let text = ByteBuffer(string: "\(status.reasonPhrase)\n")
        var headers: HTTPHeaders = [
            "Content-Type": "text/plain", "Content-Length": "\(text.readableBytes)",
            "Connection": exchange.isKeptAlive ? "keep-alive" : "close",
        ]
        if status == .unauthorized { headers.add(name: "WWW-Authenticate", value: challenge) }
        if status == .serviceUnavailable { headers.add(name: "Retry-After", value: "5") }
        let response = HTTPResponseHead(version: head.version, status: status, headers: headers)
        context.write(Self.wrapOutboundOut(.head(response)), promise: nil)
        if head.method != .HEAD { context.write(Self.wrapOutboundOut(.body(.byteBuffer(text))), promise: nil) }
        context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: sent(context, nil))
    }

    private func discard(_ body: ByteBuffer, of exchange: Exchange, _ context: ChannelHandlerContext) {
        var exchange = exchange
        exchange.discardedBytes += body.readableBytes + Self.partBytes
        if exchange.discardedBytes > Self.maximumDiscardedBytes {
            (exchange.isKeptAlive, exchange.hasRequestEnded) = (false, true)
        }
        state = .answering(exchange)
        continueIfEnded(context)
    }

    /// Returns a promise for the last part of the response.
    private func sent(_ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) -> EventLoopPromise<Void> {
        // That of the application may belong to another event loop.
        let own = context.eventLoop.makePromise(of: Void.self)
        own.futureResult.cascade(to: promise)
        own.futureResult.assumeIsolated().whenComplete { result in
            guard case .answering(var exchange) = self.state else { return }
            // Without this response, the next one would be taken for it.
            guard case .success = result else { return self.close(context) }
            exchange.response = .sent
            self.state = .answering(exchange)
            self.continueIfEnded(context)
        }
        return own
    }

    /// Takes the next request if this one and its response have ended.
    ///
    /// A client that does not read its responses therefore has one of them in memory.
    private func continueIfEnded(_ context: ChannelHandlerContext) {
        guard case .answering(let exchange) = state, exchange.hasRequestEnded, exchange.response == .sent else {
            return
        }
        guard exchange.isKeptAlive else { return close(context) }
        state = .idle
        release(context)
    }
}
