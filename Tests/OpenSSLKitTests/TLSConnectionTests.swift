// SPDX-License-Identifier: Apache-2.0

import TLSTesting
import Testing

@testable import OpenSSLKit

@Suite struct TLSConnectionTests {
    let identity: TLSIdentity

    init() throws {
        identity = try localIdentity()
    }

    private func client(_ protocols: [String] = []) -> TLSConfiguration {
        .client(trusting: .authorities([identity.leaf]), applicationProtocols: protocols)
    }

    @Test func `a client and a server negotiate TLS 1.3 and exchange bytes`() throws {
        let pair = try Pair(server: .server(identity), client: client())
        try pair.shakeHands()
        #expect(pair.server.tls.info.version == .tls13)
        #expect(pair.client.tls.info.version == .tls13)
        #expect(pair.client.tls.info.cipherSuite == pair.server.tls.info.cipherSuite)
        #expect(pair.server.tls.info.serverName == "localhost")
        #expect(try pair.client.tls.peerCertificate() == identity.leaf)
        #expect(try pair.server.tls.peerCertificate() == nil)
        let message = Array("hello".utf8)
        #expect(try pair.client.write(message) == .written)
        pair.client.deliver(to: pair.server)
        let got = try pair.server.read()
        #expect(got.step == .needsInput)
        #expect(got.bytes == message)
        let nothing = try pair.server.read()
        #expect(nothing.step == .needsInput && nothing.bytes.isEmpty)
    }

    @Test func `close_notify ends the stream in one direction only`() throws {
        let pair = try Pair(server: .server(identity), client: client())
        try pair.shakeHands()
        try pair.client.tls.shutdown()
        try pair.client.tls.shutdown()
        pair.client.deliver(to: pair.server)
        #expect(try pair.server.read().step == .endOfStream)
        let message = Array("still here".utf8)
        #expect(try pair.server.write(message) == .written)
        pair.server.deliver(to: pair.client)
        #expect(try pair.client.read().bytes == message)
        #expect(throws: OpenSSLError.self) { try pair.client.write(message) }
    }

    @Test(arguments: [
        (["http/1.1"], ["http/1.1"], "http/1.1"),
        (["h2", "http/1.1"], ["http/1.1", "h2"], "h2"),
        (["http/1.1"], ["h2", "http/1.1", "http/1.0"], "http/1.1"),
        (["http/1.1"], [], nil),
        ([], ["h2"], nil),
    ])
    func `ALPN follows the server's preference`(server: [String], offered: [String], chosen: String?) throws {
        let pair = try Pair(
            server: .server(identity, applicationProtocols: server),
            client: client(offered)
        )
        try pair.shakeHands()
        #expect(pair.server.tls.info.applicationProtocol == chosen)
        #expect(pair.client.tls.info.applicationProtocol == chosen)
    }

    @Test func `a client without a common protocol gets the alert no_application_protocol`() throws {
        let pair = try Pair(
            server: .server(identity, applicationProtocols: ["http/1.1"]),
            client: client(["http/1.10", "h2"])
        )
        _ = try pair.client.handshake()
        pair.client.deliver(to: pair.server)
        #expect(throws: OpenSSLError(.noApplicationProtocol, context: "")) { try pair.server.handshake() }
        // Alert 120 (RFC 7301 3.2), fatal.
        let alert = pair.server.sent()
        #expect(alert == [21, 3, 3, 0, 2, 2, 120])
        pair.client.received += alert
        let error = #expect(throws: OpenSSLError.self) { try pair.client.handshake() }
        #expect(error?.code == .alertReceived)
        #expect(error?.reasons.first?.contains("no application protocol") == true)
        // A failed connection stays failed.
        #expect(throws: OpenSSLError.self) { try pair.server.handshake() }
    }

    @Test func `a client rejects an untrusted certificate, and a certificate with another name`() throws {
        let stranger = try localIdentity()
        let strange = try Pair(server: .server(stranger), client: client())
        let error = #expect(throws: OpenSSLError.self) { try strange.shakeHands() }
        #expect(error?.code == .certificateRejected)
        let reason = "self-signed certificate: the certificate of CN=localhost, issued by CN=localhost, is valid until "
        #expect(error?.reasons.last?.hasPrefix(reason) == true, "\(error?.reasons ?? [])")
        for name in ["other.test", "127.0.0.2"] {
            let misnamed = try Pair(server: .server(identity), client: client(), name: name)
            let error = #expect(throws: OpenSSLError.self) { try misnamed.shakeHands() }
            #expect(error?.code == .certificateRejected)
            #expect(error?.reasons.last?.contains("is for localhost, 127.0.0.1") == true, "\(error?.reasons ?? [])")
        }
        try Pair(server: .server(identity), client: client(), name: "127.0.0.1").shakeHands()
    }

    @Test func `the error about a server's certificate has its subject, its issuer and the date that is wrong`() throws
    {
        func reason(from now: Int64, days: Int = 9, names: [String] = ["localhost"]) throws -> String? {
            let (certificate, key) = try SelfSignedCertificate.make(
                dnsNames: names,
                ipAddresses: [],
                validFor: days,
                now: now
            )
            let identity = try TLSIdentity(certificateChain: [certificate], privateKey: key)
            let pin = try certificate.publicKeyDigest()
            let trusts = [TLSTrust.authorities([certificate]), .pinnedKeys([pin], authorities: [certificate])]
            let reasons = try trusts.map { trust in
                let pair = try Pair(server: .server(identity), client: .client(trusting: trust))
                let error = #expect(throws: OpenSSLError.self) { try pair.shakeHands() }
                #expect(error?.code == .certificateRejected)
                return error?.reasons.last
            }
            #expect(reasons[0] == reasons[1])
            return reasons[0]
        }
        let subject = "the certificate of CN=localhost, issued by CN=localhost,"
        #expect(
            try reason(from: 1_000_000_000)
                == "certificate has expired: \(subject) was valid until 2001-09-18T01:46:40Z"
        )
        #expect(
            try reason(from: 4_000_000_000)
                == "certificate is not yet valid: \(subject) is valid from 2096-10-02T07:01:40Z"
        )
        let names = (1...7).map { "n\($0).test" }
        #expect(
            try reason(from: secondsNow, names: names)
                == "hostname mismatch: the certificate of CN=n1.test, issued by CN=n1.test, is for n1.test, n2.test, n3.test, n4.test, n5.test and 2 more"
        )
    }

    @Test func `a client accepts a pinned key under any name, and no other key`() throws {
        let pinned = try TLSConfiguration.client(trusting: .pinnedKeys([identity.leaf.publicKeyDigest()]))
        try Pair(server: .server(identity), client: pinned, name: "elsewhere.test").shakeHands()
        let stranger = try localIdentity()
        let other = try Pair(server: .server(stranger), client: pinned)
        let error = #expect(throws: OpenSSLError.self) { try other.shakeHands() }
        #expect(error?.code == .certificateRejected)
        #expect(error?.reasons.last == "the key \(try stranger.leaf.publicKeyDigest().pin) is not pinned")
    }

    @Test func `invalid configurations, wrong contexts and invalid server names are rejected`() throws {
        let long = String(repeating: "p", count: 256)
        let configurations: [TLSConfiguration] = [
            .server(identity, applicationProtocols: [""]),
            .server(identity, applicationProtocols: [long]),
            .client(trusting: .authorities([])),
            .client(trusting: .pinnedKeys([])),
        ]
        for configuration in configurations {
            #expect(throws: OpenSSLError(.invalidConfiguration, context: "")) { try TLSContext(configuration) }
        }
        let server = try TLSContext(.server(identity))
        let client = try TLSContext(client())
        #expect(throws: OpenSSLError(.invalidConfiguration, context: "")) {
            try TLSConnection.server(context: client)
        }
        #expect(throws: OpenSSLError(.invalidConfiguration, context: "")) {
            try TLSConnection.client(context: server, serverName: "localhost")
        }
        #expect(throws: OpenSSLError(.invalidName, context: "")) {
            try TLSConnection.client(context: client, serverName: "a b")
        }
    }

    @Test func `a client below the minimum version is refused`() throws {
        let pair = try Pair(server: .server(identity, minimumVersion: .tls13), client: client())
        try pair.shakeHands()
        #expect(pair.server.tls.info.version == .tls13)
        var configuration = client()
        configuration.maximumVersion = .tls12
        let old = try Pair(server: .server(identity, minimumVersion: .tls13), client: configuration)
        #expect(throws: OpenSSLError.self) { try old.shakeHands() }
    }

    @Test func `plaintext is read in pieces of the buffer's size, and no byte is lost`() throws {
        let pair = try Pair(server: .server(identity), client: client())
        try pair.shakeHands()
        let message = (0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        #expect(try pair.client.write(message, space: 60_000) == .written)
        pair.client.deliver(to: pair.server)
        var got: [UInt8] = []
        for space in [1, 100, 16_384, 16_284, 17_231] {
            let (step, bytes) = try pair.server.read(space)
            #expect(step == .isFull && bytes.count == space)
            got += bytes
        }
        let last = try pair.server.read(1)
        #expect(last.step == .needsInput && last.bytes.isEmpty)
        #expect(got == message)
    }

    @Test func `ciphertext that does not fit into the buffer is kept and sent in order`() throws {
        let pair = try Pair(server: .server(identity), client: client())
        try pair.shakeHands()
        #expect(try pair.client.write(Array("in space, ".utf8)) == .written)
        let unsent = pair.client.tls.unsentCount
        #expect(unsent == 0)
        // The buffer has space for only the first of two records.
        let long = [UInt8](repeating: 0x61, count: 20_000)
        #expect(try pair.client.write(long, space: 17_000) == .written)
        #expect(pair.client.tls.unsentCount == 20_000 - 16_384 + 22)
        #expect(try pair.client.write(Array(" behind".utf8)) == .written)
        pair.client.deliver(to: pair.server)
        #expect(try pair.server.read(40_000).bytes == Array("in space, ".utf8) + long + Array(" behind".utf8))
    }

    @Test func `record buffers may be released between records and during a record`() throws {
        let pair = try Pair(server: .server(identity), client: client())
        try pair.shakeHands()
        for cut in 0...30 {
            pair.server.tls.releaseBuffers()
            #expect(try pair.client.write(Array("request".utf8)) == .written)
            let record = pair.client.sent()
            let end = min(cut, record.count)
            pair.server.received = Array(record[..<end])
            var got = try pair.server.read().bytes
            pair.server.tls.releaseBuffers()
            pair.server.received += record[end...]
            got += try pair.server.read().bytes
            #expect(got == Array("request".utf8), "cut after \(end) bytes")
        }
    }
}
