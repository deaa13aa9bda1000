// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import OpenSSLKit
import Testing

@testable import NIOOpenSSL

@Suite struct CloseTests {
    @Test func `closing sends close_notify, and the peer's connection ends without an error`() throws {
        let pair = try TLSPair.connected()
        pair.server.send("bye")
        try pair.server.channel.close().wait()
        #expect(!pair.server.channel.isActive)
        try pair.exchange()
        #expect(pair.client.application.text == "bye")
        #expect(pair.client.application.errors.isEmpty)
        #expect(!pair.client.channel.isActive)
        #expect(pair.server.application.errors.isEmpty)
    }

    @Test func `closing fails writes that were not flushed`() throws {
        let pair = try TLSPair.connected()
        let written = pair.server.channel.write(ByteBuffer(string: "x"))
        try pair.server.channel.close().wait()
        #expect(throws: ChannelError.ioOnClosedChannel) { try written.wait() }
    }

    @Test func `an end without close_notify is reported as one error`() throws {
        let pair = try TLSPair.connected()
        let written = pair.server.channel.write(ByteBuffer(string: "x"))
        pair.server.network.drop()
        #expect(pair.server.application.codes == [.uncleanShutdown])
        #expect(pair.server.application.isInactive)
        #expect(throws: NIOOpenSSLError(.uncleanShutdown)) { try written.wait() }
    }

    @Test func `an end without close_notify is no error if it is tolerated`() throws {
        let pair = try TLSPair.connected(server: .init(toleratesUncleanShutdown: true))
        pair.server.network.drop()
        #expect(pair.server.application.errors.isEmpty)
        #expect(pair.server.application.isInactive)
    }

    @Test func `a half-close without close_notify is an error and closes the connection`() throws {
        let pair = try TLSPair.connected()
        pair.server.channel.allowRemoteHalfClosure = true
        pair.server.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(pair.server.application.codes == [.uncleanShutdown])
        #expect(pair.server.application.inputClosedCount == 0)
        #expect(!pair.server.channel.isActive)
    }

    @Test func `a half-close without close_notify is no error if it is tolerated`() throws {
        let pair = try TLSPair.connected(server: .init(toleratesUncleanShutdown: true))
        pair.server.channel.allowRemoteHalfClosure = true
        pair.server.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(pair.server.application.errors.isEmpty)
        #expect(pair.server.application.inputClosedCount == 1)
        #expect(pair.server.channel.isActive)
        pair.server.send("answer")
        try pair.exchange()
        #expect(pair.client.application.text == "answer")
    }

    @Test func `bytes that a peer sends after its close_notify are dropped`() throws {
        let pair = try TLSPair.connected()
        pair.server.channel.allowRemoteHalfClosure = true
        try pair.client.channel.close(mode: .output).wait()
        try pair.exchange()
        #expect(pair.server.application.inputClosedCount == 1)
        let handler = try pair.server.channel.pipeline.syncOperations.handler(type: OpenSSLHandler.self)
        for _ in 0..<64 { try pair.server.receive(ByteBuffer(repeating: 0x17, count: 16_384)) }
        #expect(pair.server.channel.isActive)
        #expect(handler.input.readableBytes == 0)
    }

    @Test func `a peer's close_notify closes the connection if half-closure is off`() throws {
        let pair = try TLSPair.connected()
        try pair.client.channel.close(mode: .output).wait()
        try pair.exchange()
        #expect(!pair.server.channel.isActive)
        #expect(pair.server.application.errors.isEmpty)
        #expect(!pair.client.channel.isActive)
        #expect(pair.client.application.errors.isEmpty)
    }

    @Test func `after a half-close the peer's answer is received`() throws {
        let pair = try TLSPair.connected()
        pair.server.channel.allowRemoteHalfClosure = true
        pair.client.send("request")
        try pair.client.channel.close(mode: .output).wait()
        #expect(pair.client.network.isOutputClosed)
        try pair.exchange()
        #expect(pair.server.application.text == "request")
        #expect(pair.server.application.inputClosedCount == 1)
        // After close_notify the end of the TCP stream has no further effect.
        pair.server.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(pair.server.application.inputClosedCount == 1)
        #expect(pair.server.channel.isActive)
        pair.server.send("response")
        try pair.exchange()
        #expect(pair.client.application.text == "response")
        try pair.server.channel.close(mode: .output).wait()
        #expect(!pair.server.channel.isActive)
        try pair.exchange()
        #expect(!pair.client.channel.isActive)
        #expect(pair.client.application.errors.isEmpty && pair.server.application.errors.isEmpty)
    }

    @Test func `after a half-close writes and a second half-close fail`() throws {
        let pair = try TLSPair.connected()
        let unflushed = pair.client.channel.write(ByteBuffer(string: "unflushed"))
        try pair.client.channel.close(mode: .output).wait()
        #expect(throws: ChannelError.outputClosed) { try unflushed.wait() }
        #expect(throws: ChannelError.outputClosed) { try pair.client.send("x").wait() }
        #expect(throws: ChannelError.outputClosed) { try pair.client.channel.close(mode: .output).wait() }
    }

    @Test func `after a half-close the peer's data is received until the deadline`() throws {
        let pair = try TLSPair.connected(server: .init(halfCloseTimeout: .seconds(3)))
        pair.client.channel.allowRemoteHalfClosure = true
        try pair.server.channel.close(mode: .output).wait()
        try pair.exchange()
        pair.loop.advanceTime(by: .milliseconds(2_999))
        pair.client.send("still talking")
        try pair.exchange()
        #expect(pair.server.application.text == "still talking")
        pair.loop.advanceTime(by: .milliseconds(1))
        #expect(!pair.server.channel.isActive)
        #expect(pair.server.application.errors.isEmpty)
    }

    @Test func `a network error closes the connection and is reported unchanged`() throws {
        let pair = try TLSPair.connected()
        let written = pair.server.channel.write(ByteBuffer(string: "x"))
        pair.server.network.fire(IOError(errnoCode: 104, reason: "reset"))
        #expect(pair.server.application.errors.count == 1)
        #expect(pair.server.application.errors.first is IOError)
        #expect(throws: IOError.self) { try written.wait() }
        #expect(!pair.server.channel.isActive)
    }

    @Test func `a removed handler fails its pending writes`() throws {
        let loop = EmbeddedEventLoop()
        let channel = EmbeddedChannel(loop: loop)
        let handler = try OpenSSLHandler(server: Fixture.shared.get().server)
        try channel.pipeline.syncOperations.addHandler(handler)
        let written = channel.writeAndFlush(ByteBuffer(string: "x"))
        _ = try channel.finish(acceptAlreadyClosed: true)
        loop.run()
        #expect(throws: (any Error).self) { try written.wait() }
        #expect(handler.connection == nil)
    }

    @Test(arguments: ["open", "handshaking", "failed", "timed out"])
    func `a closed channel releases its handler`(ending: String) throws {
        weak var handler: OpenSSLHandler?
        let loop = EmbeddedEventLoop()
        try {
            let tls = try OpenSSLHandler(server: Fixture.shared.get().server)
            let server = try Endpoint(loop, tls)
            let client = try Endpoint(
                loop,
                OpenSSLHandler(client: Fixture.shared.get().client, serverName: "localhost")
            )
            try server.connect()
            try client.connect()
            handler = tls
            switch ending {
            case "handshaking": try server.receive(client.sent())
            case "failed": try server.receive(ByteBuffer(string: "GET / HTTP/1.0\r\n\r\n"))
            case "timed out": loop.advanceTime(by: .seconds(11))
            default:
                try server.receive(client.sent())
                try client.receive(server.sent())
                try server.receive(client.sent())
                #expect(server.application.handshakes.count == 1)
            }
            client.network.drop()
            _ = server.channel.close()
            loop.advanceTime(by: .seconds(2))
            #expect(!server.channel.isActive)
            loop.run()
        }()
        #expect(handler == nil)
    }
}
