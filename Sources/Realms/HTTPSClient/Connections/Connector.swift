// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP1
internal import NIOOpenSSL
internal import NIOPosix

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
                    let (code, cause) = ConnectionFault.whileConnecting(error)
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
                RequestWriter(configuration),
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
}
