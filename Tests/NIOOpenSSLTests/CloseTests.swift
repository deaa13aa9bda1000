// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import NIOCore
import NIOEmbedded
import OpenSSLKit
import Testing

@testable import NIOOpenSSL

@Suite struct CloseTests {
    @Test func `closing sends close_notify, and the peer's connection ends without an error`() throws {
        let wire = try Wire.connected()
        wire.server.send("bye")
        try wire.server.channel.close().wait()
        #expect(!wire.server.channel.isActive)
        try wire.pump()
        #expect(wire.client.application.text == "bye")
        #expect(wire.client.application.errors.isEmpty)
        #expect(!wire.client.channel.isActive)
        #expect(wire.server.application.errors.isEmpty)
    }

    @Test func `closing fails writes that were not flushed`() throws {
        let wire = try Wire.connected()
        let written = wire.server.channel.write(ByteBuffer(string: "x"))
        try wire.server.channel.close().wait()
        #expect(throws: ChannelError.ioOnClosedChannel) { try written.wait() }
    }

    @Test func `an end without close_notify is reported as one error`() throws {
        let wire = try Wire.connected()
        let written = wire.server.channel.write(ByteBuffer(string: "x"))
        wire.server.network.drop()
        #expect(wire.server.application.codes == [.uncleanShutdown])
        #expect(wire.server.application.isInactive)
        #expect(throws: NIOOpenSSLError(.uncleanShutdown)) { try written.wait() }
    }

    @Test func `an end without close_notify is no error if it is tolerated`() throws {
        let wire = try Wire.connected(server: .init(toleratesUncleanShutdown: true))
        wire.server.network.drop()
        #expect(wire.server.application.errors.isEmpty)
        #expect(wire.server.application.isInactive)
    }

    @Test func `a half-close without close_notify is an error and closes the connection`() throws {
        let wire = try Wire.connected()
        wire.server.channel.allowRemoteHalfClosure = true
        wire.server.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(wire.server.application.codes == [.uncleanShutdown])
        #expect(wire.server.application.inputClosedCount == 0)
        #expect(!wire.server.channel.isActive)
    }

    @Test func `a half-close without close_notify is no error if it is tolerated`() throws {
        let wire = try Wire.connected(server: .init(toleratesUncleanShutdown: true))
        wire.server.channel.allowRemoteHalfClosure = true
        wire.server.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(wire.server.application.errors.isEmpty)
        #expect(wire.server.application.inputClosedCount == 1)
        #expect(wire.server.channel.isActive)
        wire.server.send("answer")
        try wire.pump()
        #expect(wire.client.application.text == "answer")
    }

    @Test func `bytes that a peer sends after its close_notify are not kept`() throws {
        let wire = try Wire.connected()
        wire.server.channel.allowRemoteHalfClosure = true
        try wire.client.channel.close(mode: .output).wait()
        try wire.pump()
        #expect(wire.server.application.inputClosedCount == 1)
        let handler = try wire.server.channel.pipeline.syncOperations.handler(type: OpenSSLServerHandler.self)
        for _ in 0..<64 { try wire.server.take(ByteBuffer(repeating: 0x17, count: 16_384)) }
        #expect(wire.server.channel.isActive)
        #expect(handler.input.readableBytes == 0)
    }

    @Test func `a peer's close_notify closes the connection if half-closure is off`() throws {
        let wire = try Wire.connected()
        try wire.client.channel.close(mode: .output).wait()
        try wire.pump()
        #expect(!wire.server.channel.isActive)
        #expect(wire.server.application.errors.isEmpty)
        #expect(!wire.client.channel.isActive)
        #expect(wire.client.application.errors.isEmpty)
    }

    @Test func `after a half-close the peer's answer is received`() throws {
        let wire = try Wire.connected()
        wire.server.channel.allowRemoteHalfClosure = true
        wire.client.send("request")
        try wire.client.channel.close(mode: .output).wait()
        #expect(wire.client.network.isOutputClosed)
        try wire.pump()
        #expect(wire.server.application.text == "request")
        #expect(wire.server.application.inputClosedCount == 1)
        // The end of TCP's stream after close_notify has no further effect.
        wire.server.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(wire.server.application.inputClosedCount == 1)
        #expect(wire.server.channel.isActive)
        wire.server.send("response")
        try wire.pump()
        #expect(wire.client.application.text == "response")
        try wire.server.channel.close(mode: .output).wait()
        #expect(!wire.server.channel.isActive)
        try wire.pump()
        #expect(!wire.client.channel.isActive)
        #expect(wire.client.application.errors.isEmpty && wire.server.application.errors.isEmpty)
    }

    @Test func `after a half-close writes and a second half-close fail`() throws {
        let wire = try Wire.connected()
        let unflushed = wire.client.channel.write(ByteBuffer(string: "unflushed"))
        try wire.client.channel.close(mode: .output).wait()
        #expect(throws: ChannelError.outputClosed) { try unflushed.wait() }
        #expect(throws: ChannelError.outputClosed) { try wire.client.send("x").wait() }
        #expect(throws: ChannelError.outputClosed) { try wire.client.channel.close(mode: .output).wait() }
    }

    @Test func `a peer that sends after a half-close is read until the deadline`() throws {
        let wire = try Wire.connected(server: .init(halfCloseTimeout: .seconds(3)))
        wire.client.channel.allowRemoteHalfClosure = true
        try wire.server.channel.close(mode: .output).wait()
        try wire.pump()
        wire.loop.advanceTime(by: .milliseconds(2_999))
        wire.client.send("still talking")
        try wire.pump()
        #expect(wire.server.application.text == "still talking")
        wire.loop.advanceTime(by: .milliseconds(1))
        #expect(!wire.server.channel.isActive)
        #expect(wire.server.application.errors.isEmpty)
    }

    @Test func `a close with a timeout ends at the peer's close_notify`() throws {
        let wire = try Wire.connected(server: .init(closeTimeout: .seconds(3)))
        let closed = wire.server.channel.close()
        #expect(wire.server.channel.isActive)
        #expect(throws: ChannelError.ioOnClosedChannel) { try wire.server.send("x").wait() }
        wire.client.send("too late")
        try wire.pump()
        try closed.wait()
        #expect(!wire.server.channel.isActive)
        #expect(wire.server.application.text == "")
        #expect(wire.server.application.errors.isEmpty)
    }

    @Test func `a close with a timeout ends at its deadline`() throws {
        let wire = try Wire.connected(server: .init(closeTimeout: .seconds(3)))
        let closed = wire.server.channel.close()
        wire.loop.advanceTime(by: .milliseconds(2_999))
        #expect(wire.server.channel.isActive)
        wire.loop.advanceTime(by: .milliseconds(1))
        #expect(!wire.server.channel.isActive)
        try closed.wait()
        #expect(wire.server.application.errors.isEmpty)
    }

    @Test func `a second close ends the wait of the first, and both promises succeed`() throws {
        let wire = try Wire.connected(server: .init(closeTimeout: .seconds(3)))
        let first = wire.server.channel.close()
        let second = wire.server.channel.close()
        try first.wait()
        try second.wait()
        #expect(!wire.server.channel.isActive)
    }

    @Test func `a close with a timeout succeeds if the peer disconnects`() throws {
        let wire = try Wire.connected(server: .init(closeTimeout: .seconds(3)))
        let closed = wire.server.channel.close()
        wire.server.network.drop()
        try closed.wait()
        #expect(wire.server.application.errors.isEmpty)
        #expect(wire.server.application.isInactive)
    }

    @Test func `a network error closes the connection and is reported unchanged`() throws {
        let wire = try Wire.connected()
        let written = wire.server.channel.write(ByteBuffer(string: "x"))
        wire.server.network.fire(IOError(errnoCode: 104, reason: "reset"))
        #expect(wire.server.application.errors.count == 1)
        #expect(wire.server.application.errors.first is IOError)
        #expect(throws: IOError.self) { try written.wait() }
        #expect(!wire.server.channel.isActive)
    }

    @Test func `a removed handler fails its pending writes`() throws {
        let loop = EmbeddedEventLoop()
        let channel = EmbeddedChannel(loop: loop)
        let handler = try makeServerHandler(context: Fixture.shared.get().server)
        try channel.pipeline.syncOperations.addHandler(handler)
        let written = channel.writeAndFlush(ByteBuffer(string: "x"))
        _ = try channel.finish(acceptAlreadyClosed: true)
        loop.run()
        #expect(throws: (any Error).self) { try written.wait() }
        #expect(handler.connectionInfo == nil)
    }

    @Test(arguments: ["open", "handshaking", "failed", "closing", "timed out"])
    func `a closed channel releases its handler`(ending: String) throws {
        weak var handler: OpenSSLHandler?
        let loop = EmbeddedEventLoop()
        try {
            let tls = try makeServerHandler(
                context: Fixture.shared.get().server,
                configuration: .init(closeTimeout: ending == "closing" ? .seconds(1) : nil)
            )
            let server = try Side(loop, tls)
            let client = try Side(
                loop,
                OpenSSLClientHandler(context: Fixture.shared.get().client, serverName: "localhost")
            )
            try server.connect()
            try client.connect()
            handler = tls
            switch ending {
            case "handshaking": try server.take(client.sent())
            case "failed": try server.take(ByteBuffer(string: "GET / HTTP/1.0\r\n\r\n"))
            case "timed out": loop.advanceTime(by: .seconds(11))
            default:
                try server.take(client.sent())
                try client.take(server.sent())
                try server.take(client.sent())
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
