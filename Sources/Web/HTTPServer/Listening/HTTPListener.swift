// SPDX-License-Identifier: Apache-2.0

package import HTTPLimits
package import NIOCore
package import NIOOpenSSL
package import NIOPosix

/// Serves HTTP over TLS on any number of addresses.
package final class HTTPListener: Sendable {
    private let group: MultiThreadedEventLoopGroup
    private let loops: [ObjectIdentifier: (NIOLoopBound<EventLoopState>, any EventLoop)]
    private let counter: ConnectionCounter
    private let makeTLS: @Sendable () throws -> OpenSSLHandler
    private let onError: @Sendable (any Error, Connection) -> Void

    /// A server that does not listen yet; it throws an error of SwiftNIO if an event loop has been shut down.
    ///
    /// The caller shuts the event loops down after the server has ended. `clock` returns the seconds since 1970-01-01
    /// 00:00 UTC, for the Date field. `onHandshake` is called on the event loop.
    package init(
        group: MultiThreadedEventLoopGroup,
        limits: HTTPLimits,
        responder: any Responder,
        clock: @escaping @Sendable () -> Int,
        makeTLS: @escaping @Sendable () throws -> OpenSSLHandler,
        onError: @escaping @Sendable (any Error, Connection) -> Void,
        onHandshake: (@Sendable (TLSHandshakeCompleted) -> Void)? = nil
    ) async throws {
        self.group = group
        self.makeTLS = makeTLS
        self.onError = onError
        counter = ConnectionCounter(limits)
        var loops: [ObjectIdentifier: (NIOLoopBound<EventLoopState>, any EventLoop)] = [:]
        for eventLoop in group.makeIterator() {
            loops[ObjectIdentifier(eventLoop)] = try await eventLoop.submit {
                let loop = EventLoopState(
                    eventLoop,
                    limits: limits,
                    responder: responder,
                    clock: clock,
                    onHandshake: onHandshake
                )
                loop.start()
                return (NIOLoopBound(loop, eventLoop: eventLoop), eventLoop as any EventLoop)
            }.get()
        }
        self.loops = loops
    }

    /// Listens on an address; with port 0 the system chooses a port.
    ///
    /// Closing the returned channel stops listening. Open connections continue.
    package func listen(host: String, port: Int) async throws -> any Channel {
        try await bootstrap.bind(host: host, port: port).get()
    }

    /// Listens on a TCP socket that listens already; the server closes it.
    package func listen(onSocket descriptor: CInt) async throws -> any Channel {
        try await bootstrap.withBoundSocket(descriptor).get()
    }

    private var bootstrap: ServerBootstrap {
        ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.maxMessagesPerRead, value: 16)
            .serverChannelOption(Self.unsentLowWaterMark, value: Self.unsentSize)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try self.accept(channel) }
            }
    }

    // TCP_NOTSENT_LOWAT of tcp(7). Accepted sockets inherit it from the listening socket. Without it the kernel buffers
    // megabytes for a slow client, and a client that reads nothing is detected late.
    private static let unsentLowWaterMark = ChannelOptions.Types.SocketOption(
        level: .tcp,
        name: NIOBSDSocket.Option(rawValue: 25)
    )
    private static let unsentSize: SocketOptionValue = 65_536

    private func accept(_ channel: any Channel) throws {
        guard let (loop, _) = loops[ObjectIdentifier(channel.eventLoop)] else {
            throw ChannelError.inappropriateOperationForState
        }
        let place = ConnectionPlace(counter, address: AddressKey(channel.remoteAddress)) {
            channel.pipeline.fireUserInboundEventTriggered(ConnectionEviction())
        }
        switch counter.admit(place) {
        case .admitted: break
        case .full: throw ConnectionRefused.tooMany
        case .fullForAddress: throw ConnectionRefused.tooManyFromAddress
        }
        do {
            // The options of the bootstrap would cost promises and closures for each connection.
            guard let options = channel.syncOptions else { throw ChannelError.inappropriateOperationForState }
            try options.setOption(.allowRemoteHalfClosure, value: true)
            try options.setOption(.maxMessagesPerRead, value: 1)
            try options.setOption(.recvAllocator, value: UnpooledReceiveBuffers())
            let handler = HTTP1Handler(loop.value, place: place, onError: onError) { place.release() }
            try channel.pipeline.syncOperations.addHandlers([try makeTLS(), handler])
        } catch {
            place.release()
            throw error
        }
    }

    package var connectionCount: Int { counter.count }

    /// The number of open connections, and of responses that wait until their clients read them.
    package var load: Int { counter.load }

    private func onEachLoop(_ body: @escaping @Sendable (EventLoopState) -> Void) {
        for (loop, eventLoop) in loops.values { eventLoop.execute { body(loop.value) } }
    }

    /// Replaces the responder for all later requests.
    package func replaceResponder(with responder: any Responder) {
        onEachLoop { $0.responder = responder }
    }

    /// Ends the connections that are open now.
    ///
    /// Each connection first answers the requests that have begun. New connections are still accepted.
    package func retireConnections() {
        onEachLoop { $0.retire() }
    }

    /// Ends all connections, and returns when all have ended.
    ///
    /// Each connection first answers the requests that have begun. If the task is cancelled, the remaining connections
    /// are closed at once.
    package func drain() async {
        onEachLoop { $0.drain() }
        await withTaskCancellationHandler {
            await counter.waitUntilEmpty()
        } onCancel: {
            onEachLoop { $0.closeAll() }
        }
        onEachLoop { $0.stop() }
    }
}

/// The reason why a new connection was closed at once.
package enum ConnectionRefused: Error, Sendable, Hashable {
    case tooMany
    case tooManyFromAddress
}

/// Allocates a buffer for each read from a connection, so that a connection that waits holds no memory for reading.
///
/// SwiftNIO keeps the first buffer of a connection, and reads into it again. For a connection that reads once per turn
/// of its event loop (`maxMessagesPerRead` is 1), it keeps no other buffer, if the allocator announces that the next
/// buffer may be larger. So the first buffer is tiny, and is never used again: the first read takes the beginning of
/// the handshake. The allocations make no difference that `make bench-http` would show.
struct UnpooledReceiveBuffers: RecvByteBufferAllocator {
    /// The size of the buffer that SwiftNIO keeps, in bytes; a smaller one would occupy as much memory.
    static let keptSize = 16
    /// The size of a buffer in bytes; most requests fit.
    static let usualSize = 2048
    /// The size after a read that has filled its buffer, in bytes: the records of TLS have up to 16 KiB.
    static let largeSize = 32_768

    private var size = keptSize

    func buffer(allocator: ByteBufferAllocator) -> ByteBuffer { allocator.buffer(capacity: size) }

    mutating func record(actualReadBytes count: Int) -> Bool {
        size = size > Self.keptSize && count >= size ? Self.largeSize : Self.usualSize
        return true
    }
}
