// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import HTTPLimits
public import NIOCore
public import NIOOpenSSL
public import NIOPosix

/// Serves HTTP over TLS on any number of addresses.
public final class HTTPListener: Sendable {
    private let group: MultiThreadedEventLoopGroup
    private let loops: [ObjectIdentifier: (NIOLoopBound<ConnectionLoop>, any EventLoop)]
    private let counter: ConnectionCounter
    private let makeTLS: @Sendable () throws -> OpenSSLServerHandler
    private let onError: @Sendable (any Error, Connection) -> Void

    /// Creates a server that does not listen yet.
    ///
    /// - Parameters:
    ///   - group: The event loops of the connections; the caller shuts them down after the server.
    ///   - limits: The limits for clients.
    ///   - responder: The responder for all requests.
    ///   - clock: Returns the seconds since 1970-01-01 00:00 UTC, for the Date field.
    ///   - makeTLS: Makes the TLS handler of a new connection.
    ///   - onError: Called with errors of connections.
    /// - Throws: An error of SwiftNIO if an event loop is shut down already.
    public init(
        group: MultiThreadedEventLoopGroup,
        limits: HTTPLimits,
        responder: any Responder,
        clock: @escaping @Sendable () -> Int,
        makeTLS: @escaping @Sendable () throws -> OpenSSLServerHandler,
        onError: @escaping @Sendable (any Error, Connection) -> Void
    ) async throws {
        self.group = group
        self.makeTLS = makeTLS
        self.onError = onError
        counter = ConnectionCounter(limits)
        var loops: [ObjectIdentifier: (NIOLoopBound<ConnectionLoop>, any EventLoop)] = [:]
        for eventLoop in group.makeIterator() {
            loops[ObjectIdentifier(eventLoop)] = try await eventLoop.submit {
                let loop = ConnectionLoop(eventLoop, limits: limits, responder: responder, clock: clock)
                loop.start()
                return (NIOLoopBound(loop, eventLoop: eventLoop), eventLoop as any EventLoop)
            }.get()
        }
        self.loops = loops
    }

    /// Listens on an address.
    ///
    /// - Parameters:
    ///   - host: A name or an address.
    ///   - port: A port; with 0 the system chooses one.
    /// - Returns: The listening channel. Closing it ends the listening and no connection.
    /// - Throws: An `IOError` or another error of SwiftNIO if the address is not available.
    public func listen(host: String, port: Int) async throws -> any Channel {
        try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.maxMessagesPerRead, value: 16)
            .serverChannelOption(Self.unsentMark, value: Self.unsentSize)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try self.accept(channel) }
            }
            .bind(host: host, port: port).get()
    }

    // TCP_NOTSENT_LOWAT of tcp(7), which accepted sockets inherit from the listening one. Without it the kernel buffers
    // megabytes for a client that reads slowly, and a client that reads nothing is noticed only when a third of them
    // are sent.
    private static let unsentMark = ChannelOptions.Types.SocketOption(
        level: .tcp,
        name: NIOBSDSocket.Option(rawValue: 25)
    )
    private static let unsentSize: SocketOptionValue = 65_536

    private func accept(_ channel: any Channel) throws {
        guard let (loop, _) = loops[ObjectIdentifier(channel.eventLoop)] else {
            throw ChannelError.inappropriateOperationForState
        }
        let address = AddressKey(channel.remoteAddress)
        switch counter.admit(address) {
        case .admitted: break
        case .full: throw ConnectionRefused.tooMany
        case .fullForAddress: throw ConnectionRefused.tooManyOfAddress
        }
        do {
            let handler = HTTP1Handler(loop.value, onError: onError) { [counter] in counter.leave(address) }
            try channel.pipeline.syncOperations.addHandlers([try makeTLS(), handler])
        } catch {
            counter.leave(address)
            throw error
        }
    }

    private func onEachLoop(_ body: @escaping @Sendable (ConnectionLoop) -> Void) {
        for (loop, eventLoop) in loops.values { eventLoop.execute { body(loop.value) } }
    }

    /// Replaces the responder, from the next request on.
    public func use(_ responder: any Responder) {
        onEachLoop { $0.responder = responder }
    }

    /// Ends the connections that are open now, each as soon as the requests that have begun on it are answered.
    ///
    /// New connections are accepted.
    public func retireConnections() {
        onEachLoop { $0.retire() }
    }

    /// Ends all connections as soon as the requests that have begun on them are answered, and returns when none is
    /// left.
    ///
    /// If the task is cancelled, the remaining connections are ended at once.
    public func drain() async {
        onEachLoop { $0.drain() }
        await withTaskCancellationHandler {
            await counter.waitForNone()
        } onCancel: {
            onEachLoop { $0.closeAll() }
        }
        onEachLoop { $0.stop() }
    }
}

/// The reason why a new connection was closed at once.
public enum ConnectionRefused: Error, Sendable, Hashable {
    /// The limit for connections is reached.
    case tooMany
    /// The limit for connections of one address is reached.
    case tooManyOfAddress
}
