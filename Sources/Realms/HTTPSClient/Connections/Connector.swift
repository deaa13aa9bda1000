// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore
internal import NIOHTTP1
internal import NIOOpenSSL
internal import NIOPosix
internal import OpenSSLKit

/// Opens a connection to a server for one exchange.
struct Connector {
    let pool: ConnectionPool
    let server: ConnectionPool.Server

    /// Resolves the name, on a thread of SwiftNIO, connects and starts the TLS handshake, with whose end the exchange
    /// begins.
    func connect(for exchange: HTTPSExchange) {
        let loop = pool.group.next()
        let limit = pool.configuration.connectTimeout
        exchange.startTimer(on: loop)
        exchange.startConnectTimer(limit, on: loop)
        ClientBootstrap(group: loop)
            .connectTimeout(TimeAmount(limit))
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .connect(host: server.host, port: server.port)
            .whenComplete { [self] result in
                switch result {
                case .success(let channel): opened(channel, for: exchange)
                case .failure(let error):
                    let (code, cause) = Self.fault(error)
                    exchange.fail(code, cause)
                    pool.remove(nil, of: server)
                }
            }
    }

    private func opened(_ channel: any Channel, for exchange: HTTPSExchange) {
        let handler = ConnectionHandler(pool: pool, exchange: exchange)
        let connection = PooledConnection(channel, server: server, handler: handler)
        handler.connection = connection
        channel.closeFuture.whenComplete { [pool, server] _ in pool.remove(connection, of: server) }
        guard exchange.attach(channel) else { return channel.close(promise: nil) }
        let configuration = pool.configuration
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = configuration.maximumHead
        limits.maxHeaderListSize = configuration.maximumHead
        do {
            try channel.pipeline.syncOperations.addHandlers([
                OpenSSLHandler(
                    client: pool.tls,
                    serverName: server.host,
                    configuration: OpenSSLHandlerConfiguration(
                        handshakeTimeout: TimeAmount(configuration.connectTimeout)
                    )
                ),
                RequestEncoder(configuration),
                ByteToMessageHandler(
                    HTTPResponseDecoder(informationalResponseStrategy: .forward, limitConfiguration: limits)
                ),
                handler,
            ])
        } catch {
            exchange.fail(.connectFailed, "\(error)")
            channel.close(promise: nil)
        }
        // A server may close the connection before the handlers are in the pipeline, so that none of them is told.
        guard channel.isActive else {
            return exchange.fail(.connectFailed, "the server closed the connection during the TLS handshake")
        }
    }

    private static func fault(_ error: any Error) -> (HTTPSClientError.Code, String) {
        let causes = (error as? NIOConnectionError)?.connectionErrors.map(\.error) ?? [error]
        if let cause = causes.first(where: ConnectionFault.isLoad) {
            return (.tooManyRequests, "cannot connect: \(ConnectionFault.systemReason(cause) ?? "\(cause)")")
        }
        guard let error = error as? NIOConnectionError else {
            if case ChannelError.connectTimeout = error { return (.connectTimedOut, "no connection was open in time") }
            return (.connectFailed, "\(error)")
        }
        guard let first = error.connectionErrors.first else {
            return (.nameNotResolved, "the host name \(error.host) has no address")
        }
        if error.connectionErrors.allSatisfy({ if case ChannelError.connectTimeout = $0.error { true } else { false } })
        {
            return (.connectTimedOut, "no connection was open in time")
        }
        guard let reason = ConnectionFault.systemReason(first.error) else { return (.connectFailed, "\(first.error)") }
        return (.connectFailed, "cannot connect: \(reason)")
    }
}

/// Writes the request whose head passes through the pipeline, wipes the buffer when it is sent, and limits the bytes
/// that are received until the next request.
///
/// The decoder has no limit for everything that is no field and no body, such as the extensions of chunks. It must see
/// the method of every request, so a head and an end are written. The bytes are those of the ``HTTPSRequest``, because
/// the encoder of NIOHTTP1 takes fields as `String` only, and a `String` cannot be wiped.
final class RequestEncoder: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = ByteBuffer

    private let userAgent: String
    private let maximumBytes: Int
    private var received = 0
    private var sent = ByteBuffer()
    var request: HTTPSRequest?

    struct TooManyBytes: Error { let maximum: Int }

    init(_ configuration: HTTPSClientConfiguration) {
        userAgent = configuration.userAgent
        // The framing of small chunks has more bytes than their data. The limits may be as large as Int.max.
        maximumBytes = min(configuration.maximumHead, 1 << 40) + 16 * min(configuration.maximumBody, 1 << 40)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard received <= maximumBytes else { return }
        received += unwrapInboundIn(data).readableBytes
        guard received <= maximumBytes else { return context.fireErrorCaught(TooManyBytes(maximum: maximumBytes)) }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .end = unwrapOutboundIn(data), let request else { return }
        self.request = nil
        received = 0
        sent = request.encoded(userAgent: userAgent)
        let written = context.eventLoop.makePromise(of: Void.self)
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        // The TLS handler has released the buffer by then, so this is its only owner.
        written.futureResult.whenComplete { _ in bound.value.sent.wipe() }
        context.write(wrapOutboundOut(sent), promise: written)
    }
}

enum ConnectionFault {
    /// Returns the code and the cause of an error; the TLS handshake was complete if the connection is open.
    static func describe(_ error: any Error, isOpen: Bool) -> (code: HTTPSClientError.Code, cause: String) {
        switch error {
        case let error as NIOOpenSSLError where error.code == .handshakeTimeout:
            (.connectTimedOut, "the TLS handshake was not complete in time")
        case let error as NIOOpenSSLError where error.cause?.code == .certificateRejected:
            // The last reason is the result of the verification.
            (.certificateRejected, "the server's certificate was rejected: \(error.cause?.reasons.last ?? "\(error)")")
        case let error as RequestEncoder.TooManyBytes:
            (.responseTooLarge, "the response has more than \(error.maximum) bytes in all")
        case HTTPParserError.headerOverflow: (.responseHeadTooLarge, "the fields of the response are too long")
        case HTTPParserError.invalidEOFState:
            (.connectionClosed, "the server closed the connection before the response was complete")
        case is HTTPParserError, is NIOHTTPDecoderError: (.malformedResponse, "the response is not HTTP/1.1: \(error)")
        case let error as IOError:
            (isOpen ? .connectionClosed : .connectFailed, "the connection failed: \(systemReason(error) ?? "\(error)")")
        case _: (isOpen ? .connectionClosed : .connectFailed, "\(error)")
        }
    }

    /// Returns the reason of the operating system for a failed system call; nil for another error.
    static func systemReason(_ error: any Error) -> String? {
        (error as? IOError).map { unsafe String(cString: strerror($0.errnoCode)) }
    }

    /// Returns whether this program, or its system, has no more resources for a connection.
    static func isLoad(_ error: any Error) -> Bool {
        (error as? IOError).map { [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains($0.errnoCode) } ?? false
    }
}
