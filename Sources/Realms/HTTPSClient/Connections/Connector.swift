// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP1
internal import NIOOpenSSL
internal import NIOPosix
internal import OpenSSLKit

/// Opens a connection to a server for one exchange.
struct Connector {
    let pool: ConnectionPool
    let server: ConnectionPool.Server

    /// Resolves the name, connects and starts the TLS handshake; the exchange begins when the handshake is complete.
    ///
    /// SwiftNIO resolves names on a thread of its own, so no event loop waits.
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
                OpenSSLClientHandler(
                    context: pool.tls,
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
