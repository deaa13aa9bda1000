// SPDX-License-Identifier: Apache-2.0

import Bytes
import HTTPLimits
import NIOCore
import NIOEmbedded
import NIOOpenSSL
import OpenSSLKit

@testable import HTTPServer

/// A connection without TLS, whose client the test controls.
///
/// All functions are called on the connection's event loop.
final class TestConnection {
    let channel: any Channel
    let loopState: EventLoopState
    let network: SlowNetwork
    /// The number of calls of the connection's `onEnd`.
    private(set) var endCount = 0
    private(set) weak var handler: HTTP1Handler?
    /// An exchange of the connection.
    ///
    /// Tests check when the exchange is released.
    weak var exchange: HTTP1Exchange?

    init(
        _ channel: any Channel,
        _ loopState: EventLoopState,
        setWritable: @escaping (Bool) -> Void,
        isHandshaken: Bool = true
    ) throws {
        self.channel = channel
        self.loopState = loopState
        network = SlowNetwork(setWritable)
        let handler = HTTP1Handler(loopState, onError: { _, _ in }) { [unowned(safe) self] in endCount += 1 }
        self.handler = handler
        try channel.pipeline.syncOperations.addHandlers([network, handler])
        channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
        channel.read()
        if isHandshaken { completeHandshake() }
    }

    func completeHandshake() {
        channel.pipeline.fireUserInboundEventTriggered(
            TLSHandshakeCompleted(negotiatedProtocol: "http/1.1", version: .tls13, cipher: "TLS_AES_128_GCM_SHA256")
        )
    }

    /// Delivers bytes to the connection in one read.
    func receive(_ bytes: ByteBuffer) {
        guard !network.isClosed else { return }
        channel.pipeline.fireChannelRead(bytes)
        channel.pipeline.fireChannelReadComplete()
        // autoRead also calls read() after each read.
        channel.read()
    }

    func receive(_ text: String) { receive(ByteBuffer(string: text)) }

    /// Closes the client's sending direction.
    func endInput() {
        channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    }

    /// Disconnects the client.
    func disconnect() { channel.close(promise: nil) }

    var text: String { String(buffer: network.readByClient) }
}

/// A connection on an event loop that runs only when the test calls it.
///
/// The test also sets the loop's time.
struct EmbeddedConnection {
    let eventLoop: EmbeddedEventLoop
    let base: TestConnection

    init(
        _ limits: HTTPLimits = HTTPLimits(),
        _ responder: any Responder = Echo(),
        isHandshaken: Bool = true
    ) throws {
        let eventLoop = EmbeddedEventLoop()
        let loopState = EventLoopState(eventLoop, limits: limits, responder: responder) { 784_111_777 }
        loopState.start()
        try self.init(eventLoop, loopState, isHandshaken: isHandshaken)
    }

    /// Makes another connection on the same event loop.
    init(_ eventLoop: EmbeddedEventLoop, _ loopState: EventLoopState, isHandshaken: Bool = true) throws {
        self.eventLoop = eventLoop
        let channel = EmbeddedChannel(loop: eventLoop)
        base = try TestConnection(
            channel,
            loopState,
            setWritable: { channel.isWritable = $0 },
            isHandshaken: isHandshaken
        )
    }

    var network: SlowNetwork { base.network }
    var text: String { base.text }
    var isOpen: Bool { !network.isClosed && !network.isOutputClosed }

    func receive(_ text: String) {
        base.receive(text)
        eventLoop.run()
    }

    func receive(_ bytes: some Collection<UInt8>) {
        base.receive(ByteBuffer(bytes: bytes))
        eventLoop.run()
    }

    func advance(_ time: Duration) {
        eventLoop.advanceTime(by: .nanoseconds(Int64(time.nanoseconds)))
    }

    var responses: [ParsedResponse] {
        get throws { try ParsedResponse.all(in: base.network.readByClient) }
    }

    var statuses: [Int] {
        get throws { try responses.map(\.status) }
    }

    /// Ends the connection and the timer of its event loop.
    ///
    /// Otherwise the event loop and the connection would never be released.
    func end() {
        base.disconnect()
        base.loopState.stop()
        eventLoop.run()
    }
}
