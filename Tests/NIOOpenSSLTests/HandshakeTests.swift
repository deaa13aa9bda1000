// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import NIOOpenSSL
import OpenSSLKit
import TLSTesting
import Testing

@Suite struct HandshakeTests {
    @Test func `both sides receive one event with the negotiated parameters`() throws {
        let pair = try TLSPair.connected()
        let expected = TLSHandshakeCompleted(
            negotiatedProtocol: "http/1.1",
            version: .tls13,
            cipher: "TLS_AES_128_GCM_SHA256"
        )
        #expect(pair.client.application.handshakes == [expected])
        let expectedByServer = TLSHandshakeCompleted(
            negotiatedProtocol: "http/1.1",
            version: .tls13,
            cipher: "TLS_AES_128_GCM_SHA256",
            serverName: "localhost"
        )
        #expect(pair.server.application.handshakes == [expectedByServer])
        #expect(pair.server.application.errors.isEmpty && pair.client.application.errors.isEmpty)
    }

    @Test func `a handler added to an active channel starts the handshake at once`() throws {
        let fixture = try Fixture.shared.get()
        let channel = EmbeddedChannel()
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        try channel.pipeline.syncOperations.addHandler(
            OpenSSLHandler(client: fixture.client, serverName: "localhost")
        )
        let hello = try #require(try channel.readOutbound(as: ByteBuffer.self))
        #expect(hello.getInteger(at: 0, as: UInt8.self) == 0x16)
        _ = try channel.finish(acceptAlreadyClosed: true)
    }

    @Test func `writes before the handshake are delivered after the handshake, and their promises succeed in order`()
        throws
    {
        let pair = try TLSPair()
        var order: [Int] = []
        for number in 0..<5 {
            pair.client.channel.write(ByteBuffer(string: "\(number)")).assumeIsolated().whenSuccess {
                order.append(number)
            }
        }
        pair.client.channel.flush()
        try pair.connect()
        #expect(order.isEmpty)
        try pair.exchange()
        #expect(pair.server.application.text == "01234")
        #expect(order == [0, 1, 2, 3, 4])
    }

    @Test func `an unflushed write before the handshake waits for its flush`() throws {
        let pair = try TLSPair()
        pair.client.channel.write(ByteBuffer(string: "later"), promise: nil)
        try pair.connect()
        try pair.exchange()
        #expect(pair.server.application.text == "")
        pair.client.channel.flush()
        try pair.exchange()
        #expect(pair.server.application.text == "later")
    }

    @Test func `a connection works if bytes arrive one at a time in both directions`() throws {
        let pair = try TLSPair()
        pair.client.send("early")
        try pair.connect()
        try pair.exchange(piece: { 1 })
        pair.server.send("answer")
        pair.client.send(" and more")
        try pair.exchange(piece: { 1 })
        #expect(pair.server.application.text == "early and more")
        #expect(pair.client.application.text == "answer")
        #expect(pair.server.application.handshakes.count == 1)
        try pair.client.channel.close().wait()
        try pair.exchange(piece: { 1 })
        #expect(pair.server.application.isInactive)
        #expect(pair.server.application.errors.isEmpty)
    }

    @Test func `a silent peer is disconnected at the handshake deadline`() throws {
        let pair = try TLSPair(server: .init(handshakeTimeout: .seconds(5)))
        try pair.server.connect()
        let written = pair.server.channel.writeAndFlush(ByteBuffer(string: "never"))
        pair.loop.advanceTime(by: .milliseconds(4_999))
        #expect(pair.server.channel.isActive)
        pair.loop.advanceTime(by: .milliseconds(1))
        #expect(!pair.server.channel.isActive)
        #expect(pair.server.application.codes == [.handshakeTimeout])
        #expect(throws: NIOOpenSSLError(.handshakeTimeout)) { try written.wait() }
    }

    @Test func `a peer that sends one byte a second is disconnected at the handshake deadline`() throws {
        let pair = try TLSPair(server: .init(handshakeTimeout: .seconds(5)))
        try pair.connect()
        var hello = try pair.client.sent()
        for _ in 0..<5 {
            #expect(pair.server.channel.isActive)
            let byte = hello.readSlice(length: 1)
            try pair.server.receive(#require(byte))
            pair.loop.advanceTime(by: .seconds(1))
        }
        #expect(!pair.server.channel.isActive)
        #expect(pair.server.application.codes == [.handshakeTimeout])
    }

    @Test func `the handshake deadline has no effect after the handshake`() throws {
        let pair = try TLSPair.connected()
        pair.loop.advanceTime(by: .hours(24))
        #expect(pair.server.channel.isActive && pair.client.channel.isActive)
        #expect(pair.server.application.errors.isEmpty)
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\n\r\n", "HEAD / H", "POST /x", "PUT /x HTTP/1.1\r\n", "OPTIONS * HTTP/1.1\r\n",
        "DELETE /a", "PATCH /a", "TRACE / HTTP/1.1", "CONNECT a:1 HTTP/1.1\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ])
    func `a plain HTTP request is detected and answered with an alert`(request: String) throws {
        let pair = try TLSPair()
        try pair.server.connect()
        try pair.server.receive(ByteBuffer(string: request))
        #expect(pair.server.application.codes == [.plainHTTP])
        #expect(!pair.server.channel.isActive)
        // unexpected_message (RFC 8446 section 5).
        #expect(try Array(buffer: pair.server.sent()) == [0x15, 3, 3, 0, 2, 2, 10])
    }

    @Test func `a plain HTTP request gets the configured response, and no TLS bytes`() throws {
        let response = ByteBuffer(string: "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        var configuration = OpenSSLHandlerConfiguration()
        configuration.plainHTTPResponse = response
        for piece in [1, 1_000] {
            let pair = try TLSPair(server: configuration)
            try pair.server.connect()
            try pair.server.receive(ByteBuffer(string: "GET / HTTP/1.1\r\n\r\n"), piece: { piece })
            #expect(pair.server.application.codes == [.plainHTTP])
            #expect(!pair.server.channel.isActive)
            #expect(try pair.server.sent() == response)
        }
        // Other bytes still get an alert.
        let pair = try TLSPair(server: configuration)
        try pair.server.connect()
        try pair.server.receive(ByteBuffer(string: "EHLO example.test\r\n"))
        #expect(try pair.server.sent() != response)
    }

    /// A server with a response for plain HTTP, and the response.
    private func plainHTTPPair() throws -> (TLSPair, ByteBuffer) {
        let response = ByteBuffer(string: "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        var configuration = OpenSSLHandlerConfiguration()
        configuration.plainHTTPResponse = response
        let pair = try TLSPair(server: configuration)
        try pair.server.connect()
        return (pair, response)
    }

    @Test func `a plain HTTP request is answered when its rest is read, so that the system sends no reset`() throws {
        let (pair, response) = try plainHTTPPair()
        try pair.server.receive(ByteBuffer(string: "GET / HTTP/1.1\r\nHo"))
        #expect(pair.server.channel.isActive)
        #expect(try pair.server.sent().readableBytes == 0)
        try pair.server.receive(ByteBuffer(string: "st: a\r\n\r\n"))
        #expect(pair.server.application.codes == [.plainHTTP])
        #expect(try pair.server.sent() == response)
        #expect(!pair.server.channel.isActive)
    }

    @Test(arguments: [true, false])
    func `a plain HTTP request whose rest does not arrive is answered all the same`(endsStream: Bool) throws {
        let (pair, response) = try plainHTTPPair()
        try pair.server.receive(ByteBuffer(string: "GET / HTTP/1.1\r\nHo"))
        if endsStream {
            pair.server.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        } else {
            pair.loop.advanceTime(by: .milliseconds(100))
        }
        #expect(pair.server.application.codes == [.plainHTTP])
        #expect(try pair.server.sent() == response)
        #expect(!pair.server.channel.isActive)
    }

    @Test func `a plain HTTP request that arrives in single bytes is detected`() throws {
        let pair = try TLSPair()
        try pair.server.connect()
        try pair.server.receive(ByteBuffer(string: "GET / HTTP/1.1\r\n\r\n"), piece: { 1 })
        #expect(pair.server.application.codes == [.plainHTTP])
        #expect(!pair.server.channel.isActive)
    }

    @Test(arguments: ["SSH-2.0-OpenSSH_9.2\r\n", "GETTY", "\u{0}\u{0}\u{0}\u{0}\u{0}", "EHLO example.test\r\n"])
    func `bytes that are neither TLS nor HTTP fail the handshake`(bytes: String) throws {
        let pair = try TLSPair()
        try pair.server.connect()
        try pair.server.receive(ByteBuffer(string: bytes))
        #expect(pair.server.application.codes == [.handshakeFailed])
        #expect(!pair.server.channel.isActive)
        #expect(try pair.server.sent().readableBytes == 7)
    }

    // The ClientHello of RFC 2246 and RFC 4346 has no extensions. It offers TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA and the
    // SCSV. The alert is protocol_version (70). For SSL 3.0 it is handshake_failure (40), which RFC 7568 section 3
    // allows.
    @Test(arguments: [(UInt8(0), UInt8(40)), (1, 70), (2, 70)])
    func `a client of TLS 1_1 or older is refused with an alert`(minor: UInt8, alert: UInt8) throws {
        let hello: [UInt8] =
            [3, minor] + [UInt8](repeating: 7, count: 32) + [0, 0, 4, 0xc0, 0x13, 0, 0xff, 1, 0]
        let message: [UInt8] = [1, 0, 0, UInt8(hello.count)] + hello
        let record: [UInt8] = [0x16, 3, 1, 0, UInt8(message.count)] + message
        let pair = try TLSPair()
        try pair.server.connect()
        try pair.server.receive(ByteBuffer(bytes: record))
        #expect(pair.server.application.codes == [.handshakeFailed])
        let error = pair.server.application.errors.first as? NIOOpenSSLError
        #expect(error?.cause?.code == .unsupportedVersion)
        #expect(try Array(buffer: pair.server.sent()).suffix(2) == [2, alert])
        #expect(!pair.server.channel.isActive)
    }

    @Test func `a client rejects an untrusted server, and both sides report an error`() throws {
        let made = try SelfSignedCertificate.make(
            dnsNames: ["localhost"],
            ipAddresses: [],
            validFor: 1,
            now: 1_700_000_000
        )
        let stranger = try TLSIdentity(certificateChain: [made.certificate], privateKey: made.key)
        let pair = try TLSPair(serverContext: TLSContext(.server(stranger)))
        let written = pair.client.channel.writeAndFlush(ByteBuffer(string: "secret"))
        try pair.connect()
        try pair.exchange()
        #expect(pair.client.application.codes == [.handshakeFailed])
        #expect((pair.client.application.errors.first as? NIOOpenSSLError)?.cause?.code == .certificateRejected)
        #expect((pair.server.application.errors.first as? NIOOpenSSLError)?.cause?.code == .alertReceived)
        #expect(throws: NIOOpenSSLError(.handshakeFailed)) { try written.wait() }
        #expect(pair.server.application.text == "")
    }

    @Test func `closing during the handshake closes at once and fails pending writes`() throws {
        let pair = try TLSPair()
        try pair.connect()
        try pair.server.receive(pair.client.sent())
        let written = pair.server.channel.writeAndFlush(ByteBuffer(string: "x"))
        try pair.server.channel.close().wait()
        #expect(!pair.server.channel.isActive)
        #expect(pair.server.application.errors.isEmpty)
        #expect(throws: ChannelError.ioOnClosedChannel) { try written.wait() }
        #expect(throws: ChannelError.ioOnClosedChannel) { try pair.server.send("y").wait() }
        pair.loop.advanceTime(by: .hours(1))
        #expect(pair.server.application.errors.isEmpty)
    }

    @Test func `a half-close that is requested during the handshake follows the data`() throws {
        let pair = try TLSPair()
        pair.server.channel.allowRemoteHalfClosure = true
        try pair.connect()
        pair.client.send("request")
        let closed = pair.client.channel.close(mode: .output)
        try pair.exchange()
        try closed.wait()
        #expect(pair.server.application.text == "request")
        #expect(pair.server.application.inputClosedCount == 1)
    }

    @Test func `a client that disconnects at any point of the handshake causes exactly one error`() throws {
        let full = try TLSPair()
        try full.connect()
        let hello = try full.client.sent()
        try full.server.receive(hello)
        try full.client.receive(full.server.sent())
        let finished = try full.client.sent()
        let total = hello.readableBytes + finished.readableBytes
        for count in 0..<total {
            let pair = try TLSPair()
            try pair.connect()
            let hello = try pair.client.sent()
            try pair.server.receive(#require(hello.getSlice(at: 0, length: min(count, hello.readableBytes))))
            if count > hello.readableBytes {
                try pair.client.receive(pair.server.sent())
                let finished = try pair.client.sent()
                let rest = min(count - hello.readableBytes, finished.readableBytes)
                try pair.server.receive(#require(finished.getSlice(at: 0, length: rest)))
            }
            guard pair.server.application.handshakes.isEmpty else { continue }
            let written = pair.server.send("x")
            pair.server.network.drop()
            #expect(pair.server.application.codes == [.closedDuringHandshake], "after \(count) bytes")
            #expect(throws: NIOOpenSSLError(.closedDuringHandshake)) { try written.wait() }
            #expect(pair.server.application.isInactive)
            pair.loop.run()
        }
    }

    @Test func `a network error during the handshake is the only error`() throws {
        let pair = try TLSPair()
        try pair.connect()
        pair.server.network.fire(IOError(errnoCode: 104, reason: "reset"))
        #expect(pair.server.application.errors.count == 1)
        #expect(pair.server.application.errors.first is IOError)
        #expect(!pair.server.channel.isActive)
    }

    @Test func `more than 16 MiB of writes before the handshake close the connection`() throws {
        let pair = try TLSPair()
        let first = pair.client.channel.write(ByteBuffer(repeating: 1, count: 16 << 20))
        #expect(pair.client.application.errors.isEmpty)
        let second = pair.client.channel.write(ByteBuffer(repeating: 1, count: 1))
        #expect(pair.client.application.errors.first as? ChannelError == .writeMessageTooLarge)
        #expect(throws: ChannelError.writeMessageTooLarge) { try first.wait() }
        #expect(throws: ChannelError.writeMessageTooLarge) { try second.wait() }
        #expect(!pair.client.channel.isActive)
    }

    @Test func `16 MiB of writes before the handshake are delivered after the handshake`() throws {
        let pair = try TLSPair()
        pair.client.channel.writeAndFlush(ByteBuffer(repeating: 1, count: 16 << 20), promise: nil)
        try pair.connect()
        try pair.exchange()
        pair.client.channel.writeAndFlush(ByteBuffer(repeating: 1, count: 16 << 20), promise: nil)
        try pair.exchange()
        #expect(pair.server.application.received.readableBytes == 32 << 20)
        #expect(pair.client.application.errors.isEmpty)
    }
}
