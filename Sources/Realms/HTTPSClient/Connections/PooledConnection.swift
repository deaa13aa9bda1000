// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import Synchronization

/// A connection whose TLS handshake is complete.
///
/// `isCounted` and `usableUntil` are only accessed under the pool's lock.
final class PooledConnection: @unchecked Sendable {
    // Unchecked because of the two variables.
    let channel: any Channel
    let server: ConnectionPool.Server
    private let handler: NIOLoopBound<ConnectionHandler>
    /// True while the pool counts this connection as open.
    var isCounted = true
    /// The time until which the connection may be used for another exchange.
    var usableUntil = NIODeadline.now()

    init(_ channel: any Channel, server: ConnectionPool.Server, handler: ConnectionHandler) {
        self.channel = channel
        self.server = server
        self.handler = NIOLoopBound(handler, eventLoop: channel.eventLoop)
    }

    /// Begins an exchange on this connection.
    func begin(_ exchange: HTTPSExchange) {
        let loop = channel.eventLoop
        guard !loop.inEventLoop else { return handler.value.begin(exchange) }
        loop.execute { [handler] in handler.value.begin(exchange) }
    }
}
