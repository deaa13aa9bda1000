// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import OpenSSLKit
import Testing

/// A server and a client connected by arrays.
private struct Pair {
    let serverTransport = ArrayTransport()
    let clientTransport = ArrayTransport()
    let server: TLSConnection
    let client: TLSConnection

    init(server: TLSConfiguration, client: TLSConfiguration, name: String = "localhost") throws {
        self.server = try .server(context: TLSContext(server), transport: serverTransport)
        self.client = try .client(context: TLSContext(client), transport: clientTransport, serverName: name)
    }

    func shakeHands() throws {
        for _ in 0..<10 {
            let clientStep = try client.handshake()
            clientTransport.deliver(to: serverTransport)
            let serverStep = try server.handshake()
            serverTransport.deliver(to: clientTransport)
            if clientStep == .complete && serverStep == .complete { return }
        }
        Issue.record("no end to the handshake")
    }
}

extension TLSConnection {
    fileprivate func writeBytes(_ bytes: [UInt8]) throws -> WriteStep { unsafe try write(bytes.span.bytes) }

    /// Reads what there is, up to a size.
    fileprivate func readBytes(_ count: Int = 20_000) throws -> (step: ReadStep, bytes: [UInt8]) {
        let storage = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
        defer { unsafe storage.deallocate() }
        var output = unsafe OutputRawSpan(buffer: storage, initializedCount: 0)
        let step = try read(into: &output)
        let filled = output.byteCount
        return unsafe (step, Array(storage.prefix(filled)))
    }
}

@Suite struct TLSConnectionTests {
    let identity: TLSIdentity

    init() throws {
        identity = try localIdentity()
    }

    private func client(_ protocols: [String] = []) -> TLSConfiguration {
        .client(trusting: .authorities([identity.leaf]), applicationProtocols: protocols)
    }

    @Test func `Two sides agree on TLS 1.3 and exchange bytes`() throws {
        let pair = try Pair(server: .server(identity), client: client())
        try pair.shakeHands()
        #expect(pair.server.info.version == .tls13)
        #expect(pair.client.info == pair.server.info)
        #expect(try pair.client.peerCertificate() == identity.leaf)
        #expect(try pair.server.peerCertificate() == nil)
        let message = Array("hello".utf8)
        #expect(try pair.client.writeBytes(message) == .written)
        pair.clientTransport.deliver(to: pair.serverTransport)
        let got = try pair.server.readBytes()
        #expect(got.step == .bytes(5))
        #expect(got.bytes == message)
        #expect(try pair.server.readBytes().step == .needsInput)
    }

    @Test func `close_notify is the end of the stream in its own direction only`() throws {
        let pair = try Pair(server: .server(identity), client: client())
        try pair.shakeHands()
        try pair.client.shutdown()
        try pair.client.shutdown()
        pair.clientTransport.deliver(to: pair.serverTransport)
        #expect(try pair.server.readBytes().step == .endOfStream)
        let message = Array("still here".utf8)
        #expect(try pair.server.writeBytes(message) == .written)
        pair.serverTransport.deliver(to: pair.clientTransport)
        #expect(try pair.client.readBytes().bytes == message)
        #expect(throws: OpenSSLError.self) { try pair.client.writeBytes(message) }
    }

    @Test(arguments: [
        (["http/1.1"], ["http/1.1"], "http/1.1"),
        (["h2", "http/1.1"], ["http/1.1", "h2"], "h2"),
        (["http/1.1"], ["h2", "http/1.1", "http/1.0"], "http/1.1"),
        (["http/1.1"], [], nil),
        ([], ["h2"], nil),
    ])
    func `ALPN takes the server's preference`(server: [String], offered: [String], chosen: String?) throws {
        let pair = try Pair(
            server: .server(identity, applicationProtocols: server),
            client: client(offered)
        )
        try pair.shakeHands()
        #expect(pair.server.info.applicationProtocol == chosen)
        #expect(pair.client.info.applicationProtocol == chosen)
    }

    @Test func `Without a common protocol the client gets the alert no_application_protocol`() throws {
        let pair = try Pair(
            server: .server(identity, applicationProtocols: ["http/1.1"]),
            client: client(["http/1.10", "h2"])
        )
        _ = try pair.client.handshake()
        pair.clientTransport.deliver(to: pair.serverTransport)
        #expect(throws: OpenSSLError(.noApplicationProtocol, context: "")) { try pair.server.handshake() }
        // Alert 120 (RFC 7301 3.2), fatal.
        #expect(pair.serverTransport.sent == [21, 3, 3, 0, 2, 2, 120])
        pair.serverTransport.deliver(to: pair.clientTransport)
        let error = #expect(throws: OpenSSLError.self) { try pair.client.handshake() }
        #expect(error?.code == .alertReceived)
        #expect(error?.reasons.first?.contains("no application protocol") == true)
        // A failed connection stays failed.
        #expect(throws: OpenSSLError.self) { try pair.server.handshake() }
    }

    @Test func `A client refuses a certificate it does not trust, and one of another name`() throws {
        let stranger = try localIdentity()
        let strange = try Pair(server: .server(stranger), client: client())
        let error = #expect(throws: OpenSSLError.self) { try strange.shakeHands() }
        #expect(error?.code == .certificateRejected)
        #expect(error?.description.contains("self-signed certificate") == true)
        for name in ["other.test", "127.0.0.2"] {
            let misnamed = try Pair(server: .server(identity), client: client(), name: name)
            #expect(throws: OpenSSLError(.certificateRejected, context: "")) { try misnamed.shakeHands() }
        }
        try Pair(server: .server(identity), client: client(), name: "127.0.0.1").shakeHands()
    }

    @Test func `A pinned certificate is trusted under any name, another is not`() throws {
        let pinned = TLSConfiguration.client(trusting: .pinned([identity.leaf.digest]))
        try Pair(server: .server(identity), client: pinned, name: "elsewhere.test").shakeHands()
        let other = try Pair(server: .server(localIdentity()), client: pinned)
        #expect(throws: OpenSSLError(.certificateRejected, context: "")) { try other.shakeHands() }
    }

    @Test func `Contexts refuse what makes no sense`() throws {
        let long = String(repeating: "p", count: 256)
        let configurations: [TLSConfiguration] = [
            .server(identity, applicationProtocols: [""]),
            .server(identity, applicationProtocols: [long]),
            .client(trusting: .authorities([])),
            .client(trusting: .pinned([])),
        ]
        for configuration in configurations {
            #expect(throws: OpenSSLError(.invalidConfiguration, context: "")) { try TLSContext(configuration) }
        }
        let transport = ArrayTransport()
        let server = try TLSContext(.server(identity))
        let client = try TLSContext(client())
        #expect(throws: OpenSSLError(.invalidConfiguration, context: "")) {
            try TLSConnection.server(context: client, transport: transport)
        }
        #expect(throws: OpenSSLError(.invalidConfiguration, context: "")) {
            try TLSConnection.client(context: server, transport: transport, serverName: "localhost")
        }
        #expect(throws: OpenSSLError(.invalidName, context: "")) {
            try TLSConnection.client(context: client, transport: transport, serverName: "a b")
        }
    }

    @Test func `The minimum version is kept`() throws {
        let pair = try Pair(server: .server(identity, minimumVersion: .tls13), client: client())
        try pair.shakeHands()
        #expect(pair.server.info.version == .tls13)
    }

    @Test func `A connection lets its transport go`() throws {
        weak var transport: ArrayTransport?
        try {
            let pair = try Pair(server: .server(identity), client: client())
            try pair.shakeHands()
            transport = pair.serverTransport
            #expect(transport != nil)
        }()
        #expect(transport == nil)
    }
}
