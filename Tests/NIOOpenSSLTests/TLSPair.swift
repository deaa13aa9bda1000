// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import NIOEmbedded
import NIOOpenSSL
import OpenSSLKit
import TLSTesting

/// A certificate for localhost, and contexts for the server and the client.
///
/// It is made once.
struct Fixture: Sendable {
    static let shared = Result { try Fixture() }

    let identity: TLSIdentity
    let server: TLSContext
    let client: TLSContext

    private init() throws {
        let made = try SelfSignedCertificate.make(
            dnsNames: ["localhost"],
            ipAddresses: ["127.0.0.1"],
            validFor: 30,
            now: Int64(Date().timeIntervalSince1970)
        )
        identity = try TLSIdentity(certificateChain: [made.certificate], privateKey: made.key)
        server = try TLSContext(.server(identity, applicationProtocols: ["http/1.1"]))
        client = try TLSContext(
            .client(trusting: .authorities([identity.leaf]), applicationProtocols: ["h2", "http/1.1"])
        )
    }
}

/// The last handler of a channel.
///
/// It records everything that the application would receive.
final class RecordingApplication: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private(set) var received = ByteBuffer()
    private(set) var handshakes: [TLSHandshakeCompleted] = []
    private(set) var errors: [any Error] = []
    private(set) var readCount = 0
    private(set) var readCompleteCount = 0
    private(set) var inputClosedCount = 0
    private(set) var isInactive = false
    /// Called with each piece of plaintext.
    var onRead: ((ChannelHandlerContext, ByteBuffer) -> Void)?
    /// Called when the handshake is complete.
    var onHandshake: ((ChannelHandlerContext) -> Void)?

    var text: String { String(buffer: received) }
    var codes: [NIOOpenSSLError.Code?] { errors.map { ($0 as? NIOOpenSSLError)?.code } }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let data = unwrapInboundIn(data)
        readCount += 1
        received.writeImmutableBuffer(data)
        onRead?(context, data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        readCompleteCount += 1
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? TLSHandshakeCompleted {
            handshakes.append(event)
            onHandshake?(context)
        }
        if case ChannelEvent.inputClosed = event { inputClosedCount += 1 }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        errors.append(error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        isInactive = true
    }
}

/// The first handler of a channel.
///
/// It counts the calls that reach the network, and can disconnect like a peer.
final class NetworkProbe: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    private(set) var readCount = 0
    private(set) var flushCount = 0
    private(set) var writeCount = 0
    private(set) var isOutputClosed = false
    private var context: ChannelHandlerContext?

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    func read(context: ChannelHandlerContext) {
        readCount += 1
        context.read()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        writeCount += 1
        context.write(data, promise: promise)
    }

    func flush(context: ChannelHandlerContext) {
        flushCount += 1
        context.flush()
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard case .output = mode else { return context.close(mode: mode, promise: promise) }
        isOutputClosed = true
        promise?.succeed(())
    }

    /// Ends the connection as if the peer had disconnected.
    func drop() {
        context?.close(promise: nil)
    }

    func fire(_ error: any Error) {
        context?.fireErrorCaught(error)
    }
}

/// The client or the server of a connection: a channel with a TLS handler.
struct Endpoint {
    let channel: EmbeddedChannel
    let network = NetworkProbe()
    let application = RecordingApplication()

    init(_ loop: EmbeddedEventLoop, _ tls: OpenSSLHandler) throws {
        channel = EmbeddedChannel(loop: loop)
        try channel.pipeline.syncOperations.addHandlers([network, tls, application])
    }

    func connect() throws {
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    /// Removes and returns all bytes that were sent.
    func sent() throws -> ByteBuffer {
        var all = ByteBuffer()
        while let part = try channel.readOutbound(as: ByteBuffer.self) { all.writeImmutableBuffer(part) }
        return all
    }

    /// Delivers bytes in pieces.
    ///
    /// Before each piece it calls `read()`, like autoRead.
    func receive(_ bytes: ByteBuffer, reading: Bool = true, piece: () -> Int = { .max }) throws {
        var bytes = bytes
        while bytes.readableBytes > 0, channel.isActive {
            guard let part = bytes.readSlice(length: min(max(1, piece()), bytes.readableBytes)) else { return }
            if reading { channel.read() }
            try channel.writeInbound(part)
        }
    }

    @discardableResult
    func send(_ text: String) -> EventLoopFuture<Void> {
        channel.writeAndFlush(ByteBuffer(string: text))
    }
}

/// A client and a server that exchange bytes directly.
final class TLSPair {
    let loop: EmbeddedEventLoop
    let client: Endpoint
    let server: Endpoint

    init(
        server: OpenSSLHandlerConfiguration = .init(),
        client: OpenSSLHandlerConfiguration = .init(),
        loop: EmbeddedEventLoop = EmbeddedEventLoop(),
        serverContext: TLSContext? = nil,
        clientContext: TLSContext? = nil
    ) throws {
        let fixture = try Fixture.shared.get()
        self.loop = loop
        self.server = try Endpoint(
            loop,
            OpenSSLHandler(server: serverContext ?? fixture.server, configuration: server)
        )
        self.client = try Endpoint(
            loop,
            OpenSSLHandler(
                client: clientContext ?? fixture.client,
                serverName: "localhost",
                configuration: client
            )
        )
    }

    // Channels keep their pipelines alive until they are closed. Memory that is still allocated afterwards is a leak.
    deinit {
        client.network.drop()
        server.network.drop()
        loop.run()
    }

    func connect() throws {
        try server.connect()
        try client.connect()
    }

    /// Exchanges bytes until neither side has more to send, and returns the number of bytes.
    @discardableResult
    func exchange(piece: () -> Int = { .max }) throws -> Int {
        var carried = 0
        while true {
            let up = try client.sent()
            try server.receive(up, piece: piece)
            let down = try server.sent()
            try client.receive(down, piece: piece)
            carried += up.readableBytes + down.readableBytes
            if up.readableBytes + down.readableBytes == 0 { return carried }
        }
    }

    static func connected(
        server: OpenSSLHandlerConfiguration = .init(),
        client: OpenSSLHandlerConfiguration = .init()
    ) throws -> TLSPair {
        let pair = try TLSPair(server: server, client: client)
        try pair.connect()
        try pair.exchange()
        return pair
    }
}
