// SPDX-License-Identifier: Apache-2.0

import Foundation
import Hummingbird
import HummingbirdRealms
import Logging
import NIOCore
import NIOOpenSSL
import NIOPosix
import OpenSSLKit
import ServiceLifecycle

/// A server that runs an application with its services over TLS during a test.
enum LiveServer {
    struct Running: Sendable {
        let port: Int
        fileprivate let authority: [Certificate]
        fileprivate let group: ServiceGroup

        /// Begins the graceful shutdown of the application, as SIGTERM does.
        func stop() async { await group.triggerGracefulShutdown() }

        /// Connects with a client certificate, or without one.
        func connect(_ identity: TLSIdentity? = nil) async throws -> LiveConnection {
            let context = try TLSContext(.client(trusting: .authorities(authority), identity: identity))
            return try await LiveConnection(port: port, context: context)
        }
    }

    static func run(
        _ fixture: RealmsFixture,
        _ router: Router<RealmsFixture.Context>,
        _ test: (Running) async throws -> Void
    ) async throws {
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        var logger = Logger(label: "live")
        logger.logLevel = .critical
        let application = Application(
            router: router,
            server: try .openSSL(fixture.realms),
            configuration: .init(address: fixture.realms.address),
            services: [fixture.realms],
            onServerRunning: { channel in port.yield(channel.localAddress?.port ?? 0) },
            logger: logger
        )
        let group = ServiceGroup(configuration: .init(services: [application], logger: logger))
        let pem = try Data(contentsOf: fixture.folder.appending(path: "var/development-certificate.pem"))
        let authority = try Certificate.chain(pem: Array(pem), name: "development-certificate.pem")
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            var found = ports.makeAsyncIterator()
            guard let number = await found.next() else { throw MissingValue(item: "port") }
            let running = Running(port: number, authority: authority, group: group)
            do {
                try await test(running)
            } catch {
                await running.stop()
                throw error
            }
            await running.stop()
            try await tasks.waitForAll()
        }
    }
}

/// A connection over TLS on which a test writes requests and reads responses.
final class LiveConnection {
    private let channel: any Channel
    private let chunks: AsyncStream<String>
    /// The text that was received but not returned yet.
    private var rest = ""

    init(port: Int, context: TLSContext) async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        chunks = stream
        channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = try OpenSSLHandler(client: context, serverName: "localhost")
                    try channel.pipeline.syncOperations.addHandlers([handler, Collector(continuation)])
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
    }

    /// Sends a request and reads the head of the answer.
    func request(
        _ line: String,
        _ fields: [String] = [],
        body: String = "",
        host: String = "localhost:1"
    ) async throws -> String {
        var text = "\(line) HTTP/1.1\r\nhost: \(host)\r\n"
        for field in fields { text += field + "\r\n" }
        if !body.isEmpty { text += "content-length: \(body.utf8.count)\r\n" }
        try await channel.writeAndFlush(ByteBuffer(string: text + "\r\n" + body))
        return await read(until: "\r\n\r\n")
    }

    /// Returns the received text up to and including `end`, or all text if the connection ends first.
    func read(until end: String) async -> String {
        if !rest.contains(end) {
            for await chunk in chunks {
                rest += chunk
                if rest.contains(end) { break }
            }
        }
        guard let range = rest.range(of: end) else {
            defer { rest = "" }
            return rest
        }
        defer { rest = String(rest[range.upperBound...]) }
        return String(rest[..<range.upperBound])
    }

    /// Returns a number of received bytes, or all text if the connection ends first.
    func read(bytes count: Int) async -> String {
        if rest.utf8.count < count {
            for await chunk in chunks {
                rest += chunk
                if rest.utf8.count >= count { break }
            }
        }
        let end = rest.utf8.index(rest.startIndex, offsetBy: min(count, rest.utf8.count))
        defer { rest = String(rest[end...]) }
        return String(rest[..<end])
    }

    func close() async throws { try await channel.close() }

    private final class Collector: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let chunks: AsyncStream<String>.Continuation

        init(_ chunks: AsyncStream<String>.Continuation) { self.chunks = chunks }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            chunks.yield(String(buffer: unwrapInboundIn(data)))
        }

        func channelInactive(context: ChannelHandlerContext) { chunks.finish() }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            chunks.finish()
            context.close(promise: nil)
        }
    }
}
