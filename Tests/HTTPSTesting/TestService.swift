// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOOpenSSL
internal import NIOPosix
package import OpenSSLKit
internal import Synchronization
package import TestTools

/// An HTTPS service on a free port of the loopback interface, whose responses are given by a script.
package final class TestService: Sendable {
    /// A request as it arrived.
    package struct Received: Sendable {
        /// The request line and the fields.
        package let head: String
        package let body: [UInt8]
        /// The number of the connection, from 0.
        package let connection: Int
        /// The number of the request on its connection, from 0.
        package let number: Int

        /// The request line.
        package var line: String { head.split(separator: "\r\n").first.map(String.init) ?? "" }

        /// The value of a field; nil if there is none.
        package func field(_ name: String) -> String? {
            head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("\(name.lowercased()): ") }
                .map { String($0.dropFirst(name.count + 2)) }
        }
    }

    /// A step of a response.
    package enum Step: Sendable {
        /// Sends text in one piece.
        case send(String)
        /// Sends bytes, one write for each `size` bytes.
        case pieces([UInt8], size: Int)
        /// Waits until a latch is open.
        case wait(Latch)
        /// Sends zeros until the client closes the connection, at most this number of bytes.
        case flood(Int)
        /// Closes the connection with close_notify.
        case close
        /// Closes the TCP connection without close_notify.
        case abort
    }

    fileprivate struct State {
        var received: [Received] = []
        var connections = 0
        var closed = 0
        var floodBytes = 0
        var channels: [ObjectIdentifier: (channel: any Channel, number: Int)] = [:]
    }

    fileprivate let state = Mutex(State())
    private let channel: any Channel

    /// The port.
    package var port: Int { channel.localAddress?.port ?? 0 }
    /// All requests so far.
    package var requests: [Received] { state.withLock { $0.received } }
    /// The number of connections so far.
    package var connections: Int { state.withLock { $0.connections } }
    /// The number of connections that are closed.
    package var closedConnections: Int { state.withLock { $0.closed } }
    /// The numbers of the connections that are open.
    package var openConnections: Set<Int> { state.withLock { Set($0.channels.values.map(\.number)) } }
    /// The number of bytes that floods have sent.
    package var floodBytes: Int { state.withLock { $0.floodBytes } }

    /// Starts a service.
    ///
    /// - Parameters:
    ///   - tls: The configuration of a TLS server; nil for a service without TLS.
    ///   - port: The port; nil for a free port.
    ///   - onAccept: The steps of a new connection, before any request.
    ///   - respond: Returns the steps of the response to a request.
    /// - Throws: An error of TLS or of the network.
    package init(
        tls: TLSConfiguration?,
        port: Int? = nil,
        onAccept: [Step] = [],
        respond: @escaping @Sendable (Received) -> [Step]
    ) async throws {
        let context = try tls.map { try TLSContext($0) }
        let recorder = Recorder()
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = ScriptHandler(recorder, onAccept: onAccept, respond: respond)
                    if let context {
                        try channel.pipeline.syncOperations.addHandler(OpenSSLHandler(server: context))
                    }
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
            }
            .bind(host: "127.0.0.1", port: port ?? LoopbackPort.free())
            .get()
        recorder.service.withLock { $0 = self }
    }

    /// Stops listening, and closes all connections.
    package func stop() async throws {
        try await channel.close().get()
        closeConnections()
    }

    /// Closes all connections with close_notify.
    package func closeConnections() {
        for channel in state.withLock({ $0.channels.values.map(\.channel) }) { channel.close(promise: nil) }
    }

    fileprivate final class Recorder: Sendable {
        // The channel is made before the service exists.
        let service = Mutex<TestService?>(nil)

        func update<Result: Sendable>(_ body: (inout sending State) -> sending Result) -> Result? {
            service.withLock { $0 }?.state.withLock(body)
        }
    }
}

/// Collects the requests of a connection, and runs the steps of the responses.
private final class ScriptHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let recorder: TestService.Recorder
    private let onAccept: [TestService.Step]
    private let respond: @Sendable (TestService.Received) -> [TestService.Step]
    private var input: [UInt8] = []
    private var number = 0
    private var connection = 0

    init(
        _ recorder: TestService.Recorder,
        onAccept: [TestService.Step],
        respond: @escaping @Sendable (TestService.Received) -> [TestService.Step]
    ) {
        self.recorder = recorder
        self.onAccept = onAccept
        self.respond = respond
    }

    func channelActive(context: ChannelHandlerContext) {
        let channel = context.channel
        connection =
            recorder.update { state in
                state.channels[ObjectIdentifier(channel)] = (channel, state.connections)
                state.connections += 1
                return state.connections - 1
            } ?? 0
        run(onAccept, on: context.channel)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        let id = ObjectIdentifier(context.channel)
        _ = recorder.update { state in
            state.channels[id] = nil
            state.closed += 1
        }
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        input += unwrapInboundIn(data).readableBytesView
        while let request = next() {
            _ = recorder.update { $0.received.append(request) }
            run(respond(request), on: context.channel)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func next() -> TestService.Received? {
        let end = Array("\r\n\r\n".utf8)
        guard let range = input.firstRange(of: end) else { return nil }
        let head = String(decoding: input[..<range.lowerBound], as: UTF8.self)
        let line = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length: ") }
        let count = line.flatMap { Int($0.dropFirst(16)) } ?? 0
        guard input.count >= range.upperBound + count else { return nil }
        let body = Array(input[range.upperBound..<(range.upperBound + count)])
        input.removeFirst(range.upperBound + count)
        defer { number += 1 }
        return TestService.Received(head: head, body: body, connection: connection, number: number)
    }

    private func run(_ steps: [TestService.Step], on channel: any Channel) {
        guard let step = steps.first else { return }
        let rest = Array(steps.dropFirst())
        let bound = NIOLoopBound(self, eventLoop: channel.eventLoop)
        let done: EventLoopFuture<Void>
        switch step {
        case .send(let text): done = channel.writeAndFlush(ByteBuffer(string: text))
        case .pieces(let bytes, let size):
            for start in stride(from: 0, to: bytes.count, by: size) {
                channel.writeAndFlush(ByteBuffer(bytes: bytes[start..<min(bytes.count, start + size)]), promise: nil)
            }
            done = channel.eventLoop.makeSucceededVoidFuture()
        case .wait(let latch): done = channel.eventLoop.makeFutureWithTask { await latch.pass() }
        case .flood(let count): return flood(count, on: channel)
        case .close: done = channel.close()
        case .abort:
            // The channel of the socket is below the TLS handler.
            done = channel.pipeline.syncOperations.removeTLS(channel)
        }
        done.whenComplete { _ in
            guard channel.isActive else { return }
            bound.value.run(rest, on: channel)
        }
    }

    private func flood(_ count: Int, on channel: any Channel) {
        let size = min(count, 1 << 16)
        guard size > 0, channel.isActive else { return }
        let bound = NIOLoopBound(self, eventLoop: channel.eventLoop)
        channel.writeAndFlush(ByteBuffer(repeating: 0x61, count: size)).whenSuccess {
            _ = bound.value.recorder.update { $0.floodBytes += size }
            bound.value.flood(count - size, on: channel)
        }
    }
}

extension ChannelPipeline.SynchronousOperations {
    /// Closes the socket without an alert.
    fileprivate func removeTLS(_ channel: any Channel) -> EventLoopFuture<Void> {
        do {
            let context = try context(handlerType: OpenSSLHandler.self)
            let promise = channel.eventLoop.makePromise(of: Void.self)
            context.close(mode: .all, promise: promise)
            return promise.futureResult
        } catch {
            return channel.close()
        }
    }
}
