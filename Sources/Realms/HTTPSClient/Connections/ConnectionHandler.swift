// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import NIOCore
internal import NIOHTTP1
internal import NIOOpenSSL

/// The last handler of a connection: sends the request of one exchange at a time, and passes on its response.
final class ConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private enum State {
        /// The exchange waits for the handshake.
        case handshaking(HTTPSExchange)
        case idle
        case active(HTTPSExchange)
        /// The response is complete. Bytes of the same read may follow, which would be an error.
        case finished(HTTPSExchange, HTTPSResponse)
        case closed
    }

    private let pool: ConnectionPool
    private var state: State
    private var context: ChannelHandlerContext?
    private var writer: RequestWriter?
    /// True if the server keeps the connection open after this response.
    private var isReusable = false
    /// The response that is being received, without its body.
    private var response: HTTPSResponse?
    private var body: [UInt8] = []
    private var informationalCount = 0
    private static let maximumInformational = 16
    /// The time for which the server keeps an unused connection.
    private var idleTime: TimeAmount
    private var idleTimer: Scheduled<Void>?
    private var idleUntil = NIODeadline.now()
    weak var connection: PooledConnection?

    init(pool: ConnectionPool, exchange: HTTPSExchange) {
        self.pool = pool
        state = .handshaking(exchange)
        idleTime = TimeAmount(pool.configuration.idleTime)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        do {
            writer = try context.pipeline.syncOperations.handler(type: RequestWriter.self)
        } catch {
            close(.connectFailed, "\(error)")
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        writer = nil
    }

    // MARK: Requests

    /// Sends the request of an exchange, for which this connection may have been opened (`isAttached`); finds another
    /// connection for it if this one is closed.
    func begin(_ exchange: HTTPSExchange, isAttached: Bool = false) {
        guard case .idle = state, let context, let writer, context.channel.isActive else {
            return pool.assign(exchange)
        }
        // The failure of an attached exchange closes this connection, perhaps a moment later, so no other exchange may
        // use it.
        guard exchange.attach(context.channel) else { return isAttached ? close() : recycle() }
        guard exchange.willSend() else { return close() }
        state = .active(exchange)
        exchange.startTimer(on: context.eventLoop)
        (response, body, informationalCount) = (nil, [], 0)
        writer.request = exchange.request
        let head = HTTPRequestHead(version: .http1_1, method: HTTPMethod(rawValue: exchange.request.method), uri: "/")
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is TLSHandshakeCompleted, case .handshaking(let exchange) = state {
            state = .idle
            exchange.connected()
            begin(exchange, isAttached: true)
        }
        if case ChannelEvent.inputClosed = event { ended() }
        context.fireUserInboundEventTriggered(event)
    }

    // MARK: Responses

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .active(let exchange) = state else { return }
        switch unwrapInboundIn(data) {
        case .head(let head): receive(head, for: exchange)
        case .body(let bytes):
            guard body.count + bytes.readableBytes <= pool.configuration.maximumBody else { return closeTooLarge() }
            body += bytes.readableBytesView
        case .end:
            guard let response else { return }
            exchange.complete()
            let complete = HTTPSResponse(status: response.status, fields: response.fields, body: body)
            state = .finished(exchange, complete)
            (self.response, body) = (nil, [])
        }
    }

    private func receive(_ head: HTTPResponseHead, for exchange: HTTPSExchange) {
        let status = Int(head.status.code)
        // RFC 9110 15.2: these responses precede the final one; 101 would end HTTP.
        if (100..<200).contains(status), status != 101 {
            informationalCount += 1
            guard informationalCount > Self.maximumInformational else { return }
            return close(.malformedResponse, "there are more than \(Self.maximumInformational) informational responses")
        }
        guard (200...599).contains(status) else { return close(.malformedResponse, "the status is \(status)") }
        let fields = head.headers.map { (name: $0.name, value: $0.value) }
        let response = HTTPSResponse(status: status, fields: fields, body: [])
        guard response["content-encoding"].allSatisfy({ $0.utf8Span.span.equalsIgnoringCase("identity") }) else {
            return close(.malformedResponse, "the body has a content coding that was not requested")
        }
        if let length = response["content-length"].first.flatMap({ Int($0) }), exchange.request.method != "HEAD",
            length > pool.configuration.maximumBody
        {
            return closeTooLarge()
        }
        // RFC 9112 6.1: HTTP/1.0 has no transfer codings, so the end of this body is not known.
        guard head.version == .http1_1 || response["transfer-encoding"].isEmpty else {
            return close(.malformedResponse, "a response of HTTP/1.0 has a transfer coding")
        }
        isReusable = head.isKeepAlive && head.version == .http1_1
        if let time = Self.keepAliveTime(response["keep-alive"]) {
            idleTime = min(TimeAmount(pool.configuration.idleTime), .seconds(max(0, time - 1)))
        }
        self.response = response
    }

    /// Returns the seconds of `timeout=5` in the values of `Keep-Alive` (RFC 2068 19.7.1).
    private static func keepAliveTime(_ values: [String]) -> Int64? {
        let name = "timeout="
        for value in values {
            for parameter in value.utf8.split(separator: ASCII.comma) {
                let text = String(Substring(parameter).drop { $0 == " " })
                guard text.utf8Span.span.beginsIgnoringCase(with: "timeout=") else { continue }
                let digits = text.utf8.dropFirst(name.utf8.count)
                if let seconds = Int64(Substring(digits)), (0...86_400).contains(seconds) { return seconds }
            }
        }
        return nil
    }

    private func closeTooLarge() {
        close(.responseTooLarge, "the body is longer than \(pool.configuration.maximumBody) bytes")
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if case .finished(let exchange, let response) = state {
            // The connection must be free before the caller's task learns of the end, so that its next request can use it.
            // If the exchange failed before its end, its failure closes the connection, perhaps a moment later. After
            // its end it cannot fail.
            if exchange.hasFailed { close() } else { recycle() }
            exchange.deliver(response)
        }
        context.fireChannelReadComplete()
    }

    // MARK: The end of an exchange

    /// Gives the connection back to the pool, or closes it.
    private func recycle() {
        guard isReusable || isUnused, let connection, context?.channel.isActive == true else { return close() }
        state = .idle
        idleUntil = .now() + idleTime
        connection.usableUntil = idleUntil
        guard pool.release(connection) else { return close() }
        if case .idle = state, idleTimer == nil { startIdleTimer() }
    }

    private var isUnused: Bool { if case .idle = state { true } else { false } }

    private func startIdleTimer() {
        guard let context else { return }
        idleTimer = context.eventLoop.assumeIsolated().scheduleTask(deadline: idleUntil) {
            self.idleTimer = nil
            guard case .idle = self.state else { return }
            if self.idleUntil <= .now() { self.close() } else { self.startIdleTimer() }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let isOpen = if case .handshaking = state { false } else { true }
        let (code, cause) = ConnectionFault.describe(error, isOpen: isOpen)
        close(code, cause)
    }

    func channelInactive(context: ChannelHandlerContext) {
        ended()
        context.fireChannelInactive()
    }

    private func ended() {
        switch state {
        case .handshaking: close(.connectFailed, "the server closed the connection during the TLS handshake")
        case .active: close(.connectionClosed, "the server closed the connection before the response was complete")
        case .finished(let exchange, let response):
            close()
            exchange.deliver(response)
        case .idle: close()
        case .closed: break
        }
    }

    /// Ends the exchange with an error, and closes the connection.
    private func close(_ code: HTTPSClientError.Code, _ cause: String) {
        let old = state
        close()
        switch old {
        case .handshaking(let exchange), .active(let exchange): exchange.fail(code, cause)
        case .finished(let exchange, let response): exchange.deliver(response)
        case .idle, .closed: break
        }
    }

    private func close() {
        if case .closed = state { return }
        state = .closed
        idleTimer?.cancel()
        idleTimer = nil
        context?.close(promise: nil)
    }
}
