// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import NIOCore
import NIOEmbedded
import NIOOpenSSL
import OpenSSLKit
import Testing

@Suite struct HandshakeTests {
    @Test func `both sides receive one event with the negotiated parameters`() throws {
        let wire = try Wire.connected()
        let expected = TLSHandshakeCompleted(
            negotiatedProtocol: "http/1.1",
            version: .tls13,
            cipher: "TLS_AES_128_GCM_SHA256"
        )
        #expect(wire.client.application.handshakes == [expected])
        let expectedByServer = TLSHandshakeCompleted(
            negotiatedProtocol: "http/1.1",
            version: .tls13,
            cipher: "TLS_AES_128_GCM_SHA256",
            serverName: "localhost"
        )
        #expect(wire.server.application.handshakes == [expectedByServer])
        #expect(wire.server.application.errors.isEmpty && wire.client.application.errors.isEmpty)
    }

    @Test func `a handler added to an active channel starts the handshake at once`() throws {
        let fixture = try Fixture.shared.get()
        let channel = EmbeddedChannel()
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        try channel.pipeline.syncOperations.addHandler(
            OpenSSLClientHandler(context: fixture.client, serverName: "localhost")
        )
        let hello = try #require(try channel.readOutbound(as: ByteBuffer.self))
        #expect(hello.getInteger(at: 0, as: UInt8.self) == 0x16)
        _ = try channel.finish(acceptAlreadyClosed: true)
    }

    @Test func `writes before the handshake are delivered after the handshake, and their promises succeed in order`() throws {
        let wire = try Wire()
        var order: [Int] = []
        for number in 0..<5 {
            wire.client.channel.write(ByteBuffer(string: "\(number)")).assumeIsolated().whenSuccess {
                order.append(number)
            }
        }
        wire.client.channel.flush()
        try wire.connect()
        #expect(order.isEmpty)
        try wire.pump()
        #expect(wire.server.application.text == "01234")
        #expect(order == [0, 1, 2, 3, 4])
    }

    @Test func `an unflushed write before the handshake waits for its flush`() throws {
        let wire = try Wire()
        wire.client.channel.write(ByteBuffer(string: "later"), promise: nil)
        try wire.connect()
        try wire.pump()
        #expect(wire.server.application.text == "")
        wire.client.channel.flush()
        try wire.pump()
        #expect(wire.server.application.text == "later")
    }

    @Test func `a connection works if bytes arrive one at a time in both directions`() throws {
        let wire = try Wire()
        wire.client.send("early")
        try wire.connect()
        try wire.pump(piece: { 1 })
        wire.server.send("answer")
        wire.client.send(" and more")
        try wire.pump(piece: { 1 })
        #expect(wire.server.application.text == "early and more")
        #expect(wire.client.application.text == "answer")
        #expect(wire.server.application.handshakes.count == 1)
        try wire.client.channel.close().wait()
        try wire.pump(piece: { 1 })
        #expect(wire.server.application.isInactive)
        #expect(wire.server.application.errors.isEmpty)
    }

    @Test func `a silent peer is disconnected at the handshake deadline`() throws {
        let wire = try Wire(server: .init(handshakeTimeout: .seconds(5)))
        try wire.server.connect()
        let written = wire.server.channel.writeAndFlush(ByteBuffer(string: "never"))
        wire.loop.advanceTime(by: .milliseconds(4_999))
        #expect(wire.server.channel.isActive)
        wire.loop.advanceTime(by: .milliseconds(1))
        #expect(!wire.server.channel.isActive)
        #expect(wire.server.application.codes == [.handshakeTimeout])
        #expect(throws: NIOOpenSSLError(.handshakeTimeout)) { try written.wait() }
    }

    @Test func `a peer that sends one byte a second is disconnected at the handshake deadline`() throws {
        let wire = try Wire(server: .init(handshakeTimeout: .seconds(5)))
        try wire.connect()
        var hello = try wire.client.sent()
        for _ in 0..<5 {
            #expect(wire.server.channel.isActive)
            let byte = hello.readSlice(length: 1)
            try wire.server.take(#require(byte))
            wire.loop.advanceTime(by: .seconds(1))
        }
        #expect(!wire.server.channel.isActive)
        #expect(wire.server.application.codes == [.handshakeTimeout])
    }

    @Test func `a completed handshake has no deadline`() throws {
        let wire = try Wire.connected()
        wire.loop.advanceTime(by: .hours(24))
        #expect(wire.server.channel.isActive && wire.client.channel.isActive)
        #expect(wire.server.application.errors.isEmpty)
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\n\r\n", "HEAD / H", "POST /x", "PUT /x HTTP/1.1\r\n", "OPTIONS * HTTP/1.1\r\n",
        "DELETE /a", "PATCH /a", "TRACE / HTTP/1.1", "CONNECT a:1 HTTP/1.1\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ])
    func `a plain HTTP request is detected and answered with an alert`(request: String) throws {
        let wire = try Wire()
        try wire.server.connect()
        try wire.server.take(ByteBuffer(string: request))
        #expect(wire.server.application.codes == [.plainHTTP])
        #expect(!wire.server.channel.isActive)
        // unexpected_message (RFC 8446 section 5).
        #expect(try Array(buffer: wire.server.sent()) == [0x15, 3, 3, 0, 2, 2, 10])
    }

    @Test func `a plain HTTP request that arrives in single bytes is detected`() throws {
        let wire = try Wire()
        try wire.server.connect()
        try wire.server.take(ByteBuffer(string: "GET / HTTP/1.1\r\n\r\n"), piece: { 1 })
        #expect(wire.server.application.codes == [.plainHTTP])
        #expect(!wire.server.channel.isActive)
    }

    @Test(arguments: ["SSH-2.0-OpenSSH_9.2\r\n", "GETTY", "\u{0}\u{0}\u{0}\u{0}\u{0}", "EHLO example.test\r\n"])
    func `bytes that are neither TLS nor HTTP fail the handshake`(bytes: String) throws {
        let wire = try Wire()
        try wire.server.connect()
        try wire.server.take(ByteBuffer(string: bytes))
        #expect(wire.server.application.codes == [.handshakeFailed])
        #expect(!wire.server.channel.isActive)
        #expect(try wire.server.sent().readableBytes == 7)
    }

    // A ClientHello of RFC 2246/4346 without extensions: TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA and the SCSV.
    // The answer is protocol_version (70); for SSL 3.0 it is handshake_failure (40), which RFC 7568 section 3 allows.
    @Test(arguments: [(UInt8(0), UInt8(40)), (1, 70), (2, 70)])
    func `a client of TLS 1_1 or older is refused with an alert`(minor: UInt8, alert: UInt8) throws {
        let hello: [UInt8] =
            [3, minor] + [UInt8](repeating: 7, count: 32) + [0, 0, 4, 0xc0, 0x13, 0, 0xff, 1, 0]
        let message: [UInt8] = [1, 0, 0, UInt8(hello.count)] + hello
        let record: [UInt8] = [0x16, 3, 1, 0, UInt8(message.count)] + message
        let wire = try Wire()
        try wire.server.connect()
        try wire.server.take(ByteBuffer(bytes: record))
        #expect(wire.server.application.codes == [.handshakeFailed])
        let error = wire.server.application.errors.first as? NIOOpenSSLError
        #expect(error?.cause?.code == .unsupportedVersion)
        #expect(try Array(buffer: wire.server.sent()).suffix(2) == [2, alert])
        #expect(!wire.server.channel.isActive)
    }

    @Test func `a client rejects an untrusted server, and both sides report an error`() throws {
        let made = try SelfSignedCertificate.make(
            dnsNames: ["localhost"],
            ipAddresses: [],
            validFor: 1,
            now: 1_700_000_000
        )
        let stranger = try TLSIdentity(certificateChain: [made.certificate], privateKey: made.key)
        let wire = try Wire(serverContext: TLSContext(.server(stranger)))
        let written = wire.client.channel.writeAndFlush(ByteBuffer(string: "secret"))
        try wire.connect()
        try wire.pump()
        #expect(wire.client.application.codes == [.handshakeFailed])
        #expect((wire.client.application.errors.first as? NIOOpenSSLError)?.cause?.code == .certificateRejected)
        #expect((wire.server.application.errors.first as? NIOOpenSSLError)?.cause?.code == .alertReceived)
        #expect(throws: NIOOpenSSLError(.handshakeFailed)) { try written.wait() }
        #expect(wire.server.application.text == "")
    }

    @Test func `closing during the handshake closes at once and fails pending writes`() throws {
        let wire = try Wire()
        try wire.connect()
        try wire.server.take(wire.client.sent())
        let written = wire.server.channel.writeAndFlush(ByteBuffer(string: "x"))
        try wire.server.channel.close().wait()
        #expect(!wire.server.channel.isActive)
        #expect(wire.server.application.errors.isEmpty)
        #expect(throws: ChannelError.ioOnClosedChannel) { try written.wait() }
        #expect(throws: ChannelError.ioOnClosedChannel) { try wire.server.send("y").wait() }
        wire.loop.advanceTime(by: .hours(1))
        #expect(wire.server.application.errors.isEmpty)
    }

    @Test func `a half-close during the handshake is sent after the data`() throws {
        let wire = try Wire()
        wire.server.channel.allowRemoteHalfClosure = true
        try wire.connect()
        wire.client.send("request")
        let closed = wire.client.channel.close(mode: .output)
        try wire.pump()
        try closed.wait()
        #expect(wire.server.application.text == "request")
        #expect(wire.server.application.inputClosedCount == 1)
    }

    @Test func `a client that disconnects after any number of handshake bytes causes one error`() throws {
        let full = try Wire()
        try full.connect()
        let hello = try full.client.sent()
        try full.server.take(hello)
        try full.client.take(full.server.sent())
        let finished = try full.client.sent()
        let total = hello.readableBytes + finished.readableBytes
        for count in 0..<total {
            let wire = try Wire()
            try wire.connect()
            let hello = try wire.client.sent()
            try wire.server.take(#require(hello.getSlice(at: 0, length: min(count, hello.readableBytes))))
            if count > hello.readableBytes {
                try wire.client.take(wire.server.sent())
                let finished = try wire.client.sent()
                let rest = min(count - hello.readableBytes, finished.readableBytes)
                try wire.server.take(#require(finished.getSlice(at: 0, length: rest)))
            }
            guard wire.server.application.handshakes.isEmpty else { continue }
            let written = wire.server.send("x")
            wire.server.network.drop()
            #expect(wire.server.application.codes == [.closedDuringHandshake], "after \(count) bytes")
            #expect(throws: NIOOpenSSLError(.closedDuringHandshake)) { try written.wait() }
            #expect(wire.server.application.isInactive)
            wire.loop.run()
        }
    }

    @Test func `a network error during the handshake is the only error`() throws {
        let wire = try Wire()
        try wire.connect()
        wire.server.network.fire(IOError(errnoCode: 104, reason: "reset"))
        #expect(wire.server.application.errors.count == 1)
        #expect(wire.server.application.errors.first is IOError)
        #expect(!wire.server.channel.isActive)
    }

    @Test func `more than 16 MiB of writes before the handshake close the connection`() throws {
        let wire = try Wire()
        let first = wire.client.channel.write(ByteBuffer(repeating: 1, count: 16 << 20))
        #expect(wire.client.application.errors.isEmpty)
        let second = wire.client.channel.write(ByteBuffer(repeating: 1, count: 1))
        #expect(wire.client.application.errors.first as? ChannelError == .writeMessageTooLarge)
        #expect(throws: ChannelError.writeMessageTooLarge) { try first.wait() }
        #expect(throws: ChannelError.writeMessageTooLarge) { try second.wait() }
        #expect(!wire.client.channel.isActive)
    }

    @Test func `16 MiB of writes before the handshake are delivered after the handshake`() throws {
        let wire = try Wire()
        wire.client.channel.writeAndFlush(ByteBuffer(repeating: 1, count: 16 << 20), promise: nil)
        try wire.connect()
        try wire.pump()
        wire.client.channel.writeAndFlush(ByteBuffer(repeating: 1, count: 16 << 20), promise: nil)
        try wire.pump()
        #expect(wire.server.application.received.readableBytes == 32 << 20)
        #expect(wire.client.application.errors.isEmpty)
    }
}
