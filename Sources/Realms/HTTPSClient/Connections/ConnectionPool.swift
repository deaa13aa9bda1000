// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import DequeModule
internal import NIOCore
internal import OpenSSLKit
internal import Synchronization

/// The connections of a client, and the exchanges that wait for one.
///
/// Every exchange gets one connection: an unused one, or a new one, or the next one that becomes free.
final class ConnectionPool: Sendable {
    struct Server: Sendable, Hashable {
        let host: String
        let port: Int

        init(_ url: HTTPSURL) { (host, port) = (url.host, url.port) }
    }

    private struct Connections {
        /// The unused connections; the last one was used last.
        var idle: [PooledConnection] = []
        /// The number of connections, used and unused, and of those that are being opened.
        var open = 0
        var waiting: Deque<HTTPSExchange> = []
    }

    private struct State {
        var servers: [Server: Connections] = [:]
        var isClosed = false
    }

    private enum Step {
        case use(PooledConnection)
        case connect
        case wait
        case fail(HTTPSClientError.Code, String)
    }

    let configuration: HTTPSClientConfiguration
    let tls: TLSContext
    let group: any EventLoopGroup
    private let state = Mutex(State())

    init(_ configuration: HTTPSClientConfiguration, group: any EventLoopGroup) throws(HTTPSClientError) {
        guard configuration.userAgent.utf8.allSatisfy(ASCII.isFieldContent), !configuration.userAgent.isEmpty else {
            throw HTTPSClientError(.invalidRequest, "the User-Agent is not valid")
        }
        let limits = [
            configuration.maximumHead, configuration.maximumBody, configuration.connections,
            configuration.waitingRequests + 1,
        ]
        let times = [configuration.connectTimeout, configuration.timeout]
        guard limits.allSatisfy({ $0 > 0 }), times.allSatisfy({ $0 > .zero }) else {
            throw HTTPSClientError(.invalidRequest, "a limit is not positive")
        }
        tls = try Result { () throws(OpenSSLError) in
            try TLSContext(
                .client(
                    trusting: configuration.trust,
                    identity: configuration.identity,
                    applicationProtocols: ["http/1.1"]
                )
            )
        }.mapError { HTTPSClientError(.invalidRequest, "\($0)") }.get()
        self.configuration = configuration
        self.group = group
    }

    var openConnections: Int { state.withLock { $0.servers.values.reduce(0) { $0 + $1.open } } }
    var waitingRequests: Int { state.withLock { $0.servers.values.reduce(0) { $0 + $1.waiting.count } } }

    // MARK: Exchanges

    /// Finds a connection for an exchange of which nothing was sent yet.
    func assign(_ exchange: HTTPSExchange) {
        let server = Server(exchange.request.url)
        let now = NIODeadline.now()
        let step = state.withLock { state -> Step in
            guard !state.isClosed else { return .fail(.clientClosed, "the client is closed") }
            var connections = state.servers[server] ?? Connections()
            defer { state.servers[server] = connections }
            // The others are about to be closed by their timers.
            if let place = connections.idle.lastIndex(where: { $0.usableUntil > now }) {
                return .use(connections.idle.remove(at: place))
            }
            guard connections.open >= configuration.connections else {
                connections.open += 1
                return .connect
            }
            connections.waiting.removeAll { $0.hasFailed }
            guard connections.waiting.count < configuration.waitingRequests else {
                return .fail(.tooManyRequests, "\(connections.waiting.count) requests wait for a connection")
            }
            connections.waiting.append(exchange)
            return .wait
        }
        switch step {
        case .use(let connection): connection.begin(exchange)
        case .connect: Connector(pool: self, server: server).connect(for: exchange)
        case .wait: exchange.startTimer(on: group.next())
        case .fail(let code, let cause): exchange.fail(code, cause)
        }
    }

    // MARK: Connections

    /// Takes back a connection that is free, and uses it for the next exchange that waits; returns false if it is to be
    /// closed.
    func release(_ connection: PooledConnection) -> Bool {
        let (isKept, next) = state.withLock { state -> (Bool, HTTPSExchange?) in
            guard var connections = state.servers[connection.server] else { return (false, nil) }
            defer { state.servers[connection.server] = connections }
            while let next = connections.waiting.popFirst() {
                if !next.hasFailed { return (true, next) }
            }
            guard !state.isClosed else { return (false, nil) }
            connections.idle.append(connection)
            return (true, nil)
        }
        if let next { connection.begin(next) }
        return isKept
    }

    /// Removes a connection that is closed or could not be opened, and opens another one if an exchange waits.
    func remove(_ connection: PooledConnection?, of server: Server) {
        let next = state.withLock { state -> HTTPSExchange? in
            guard var connections = state.servers[server] else { return nil }
            defer { state.servers[server] = connections.open == 0 && connections.waiting.isEmpty ? nil : connections }
            connections.idle.removeAll { $0 === connection }
            connections.open -= 1
            while let next = connections.waiting.popFirst() {
                guard !next.hasFailed else { continue }
                connections.open += 1
                return next
            }
            return nil
        }
        if let next { Connector(pool: self, server: server).connect(for: next) }
    }

    func close() {
        let idle = state.withLock { state -> [PooledConnection] in
            state.isClosed = true
            defer { for server in state.servers.keys { state.servers[server]?.idle = [] } }
            return state.servers.values.flatMap(\.idle)
        }
        for connection in idle { connection.channel.close(promise: nil) }
    }
}

/// A connection whose TLS handshake is complete.
///
/// `usableUntil` is only accessed under the pool's lock, or before the pool has the connection back; for it `Sendable` is
/// unchecked.
final class PooledConnection: @unchecked Sendable {
    let channel: any Channel
    let server: ConnectionPool.Server
    private let handler: NIOLoopBound<ConnectionHandler>
    /// The time until which the connection may be used for another exchange.
    var usableUntil = NIODeadline.now()

    init(_ channel: any Channel, server: ConnectionPool.Server, handler: ConnectionHandler) {
        self.channel = channel
        self.server = server
        self.handler = NIOLoopBound(handler, eventLoop: channel.eventLoop)
    }

    func begin(_ exchange: HTTPSExchange) {
        let loop = channel.eventLoop
        guard !loop.inEventLoop else { return handler.value.begin(exchange) }
        loop.execute { [handler] in handler.value.begin(exchange) }
    }
}
