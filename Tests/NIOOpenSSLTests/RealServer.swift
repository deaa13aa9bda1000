// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import NIOOpenSSL
import NIOPosix
import OpenSSLKit
import SeededRandom
import Synchronization

/// A server on a free port of the loopback interface.
struct Server {
    let channel: any Channel
    let events: Events

    var port: Int { channel.localAddress?.port ?? 0 }

    /// Runs `body` with a server.
    ///
    /// `application` makes the last handler of each connection.
    static func run<R>(
        minimumVersion: TLSVersion = .tls12,
        application: @escaping @Sendable () -> any ChannelHandler & Sendable,
        _ body: (Server) async throws -> R
    ) async throws -> R {
        let fixture = try Fixture.shared.get()
        let context = try TLSContext(
            .server(
                fixture.identity,
                minimumVersion: minimumVersion,
                applicationProtocols: ["http/1.1"],
                sessionTickets: SessionTicketKeys(now: { Int64(Date().timeIntervalSince1970) })
            )
        )
        return try await run(context: context, application: application, body)
    }

    /// Runs `body` with a server that uses a context.
    static func run<R>(
        context: TLSContext,
        application: @escaping @Sendable () -> any ChannelHandler & Sendable,
        _ body: (Server) async throws -> R
    ) async throws -> R {
        let events = Events()
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers([
                        OpenSSLHandler(server: context), EventLog(events), application(),
                    ])
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        let server = Server(channel: channel, events: events)
        do {
            let result = try await body(server)
            try await channel.close()
            return result
        } catch {
            try await channel.close()
            throw error
        }
    }
}

/// A list of the events on a server's connections, as text.
final class Events: Sendable {
    private let words = Mutex<[String]>([])

    func append(_ word: String) { words.withLock { $0.append(word) } }

    var all: [String] { words.withLock { $0 } }

    /// Waits until at least `count` events have happened, at most a minute, and returns all events.
    ///
    /// The wait is needed because a client may receive its response and end before the server's thread adds the event.
    func atLeast(_ count: Int) async throws -> [String] {
        let end = ContinuousClock.now + .seconds(60)
        while all.count < count, ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(1)) }
        return all
    }
}

final class EventLog: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let list: Events

    init(_ list: Events) {
        self.list = list
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? TLSHandshakeCompleted {
            list.append("handshake \(event.version.rawValue) \(event.negotiatedProtocol ?? "-")")
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let error = error as? NIOOpenSSLError
        list.append("error \(error.map { "\($0.code)" } ?? "other")")
    }
}

/// Sends all data back, and closes its direction when the peer has closed its direction.
final class EchoHandler: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.write(data, promise: nil)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.flush()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event { context.close(mode: .output, promise: nil) }
    }
}

/// Answers each read with a page, and closes the connection.
final class PageHandler: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    static let size = 300_000

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let head = "HTTP/1.1 200 OK\r\ncontent-length: \(Self.size)\r\nconnection: close\r\n\r\n"
        context.write(wrapOutboundOut(ByteBuffer(string: head)), promise: nil)
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(repeating: 0x7a, count: Self.size)))
            .whenComplete { _ in bound.value.close(promise: nil) }
    }
}

/// Sends a message, and collects the echo.
final class EchoClient: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    private let message: ByteBuffer
    private let done: EventLoopPromise<Bool>
    private var received = ByteBuffer()

    init(_ message: ByteBuffer, _ done: EventLoopPromise<Bool>) {
        self.message = message
        self.done = done
    }

    func channelActive(context: ChannelHandlerContext) {
        var rest = message
        var numbers = Random(seed: 77)
        while rest.readableBytes > 0 {
            let count = min(rest.readableBytes, Int.random(in: 1...200_000, using: &numbers))
            guard let part = rest.readSlice(length: count) else { return }
            context.write(wrapOutboundOut(part), promise: nil)
            if Bool.random(using: &numbers) { context.flush() }
        }
        context.flush()
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received.writeImmutableBuffer(unwrapInboundIn(data))
        guard received.readableBytes >= message.readableBytes else { return }
        done.succeed(received == message)
        context.close(promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        done.fail(error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        done.fail(ChannelError.eof)
    }
}
