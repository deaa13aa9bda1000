// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import NIOPosix
import OpenSSLKit
import TLSTesting
import Testing

@testable import NIOOpenSSL

/// Connections of curl and s_client to a server that has several certificates and requests client certificates.
@Suite(.serialized, .enabled(if: TestPKI.isPossible && Tool.isInstalled(Tool.curl), "needs openssl and curl"))
struct RealClientTests {
    let pki: TestPKI

    init() throws {
        pki = try TestPKI.shared.get()
    }

    private func context(_ mode: ClientCertificatePolicy.Mode?, staples: Bool = false) throws -> TLSContext {
        var configuration = TLSConfiguration.server(
            try pki.identity("server", ocsp: staples ? "server.ocsp" : nil),
            applicationProtocols: ["http/1.1"],
            sessionTickets: try SessionTicketKeys(now: { Int64(Date().timeIntervalSince1970) })
        )
        configuration.clientCertificates = try mode.map {
            try ClientCertificatePolicy(
                mode: $0,
                authorities: pki.certificates("root"),
                revocationLists: pki.lists("all.crl")
            )
        }
        configuration.hosts = [
            TLSHost(
                names: ["other.test", "*.wild.test"],
                identity: try pki.identity("other", ocsp: staples ? "other.ocsp" : nil)
            )
        ]
        return try TLSContext(configuration)
    }

    /// Requests a page with curl, and returns curl's status and output and the client's chain that the server verified.
    private func fetch(
        _ name: String,
        from context: TLSContext,
        as identity: String?,
        _ options: [String] = []
    ) async throws -> (status: Int32, output: String, chain: [String]) {
        let seen = Events()
        let result = try await Server.run(context: context, application: { PeerPageHandler(seen) }) { server in
            try await Tool.run(
                Tool.curl,
                ["--silent", "--show-error", "--max-time", "120", "--http1.1", "--noproxy", "*"]
                    + ["--cacert", pki.file("root.pem").path, "--resolve", "\(name):\(server.port):127.0.0.1"]
                    + (identity.map {
                        ["--cert", pki.file("\($0)-chain.pem").path, "--key", pki.file("\($0).key").path]
                    } ?? [])
                    + options + ["https://\(name):\(server.port)/"]
            )
        }
        return (result.status, result.output, seen.all)
    }

    @Test(arguments: ["1.2", "1.3"])
    func `curl connects with its certificate, and the application gets the verified chain`(version: String) async throws
    {
        let result = try await fetch(
            "localhost",
            from: context(.required),
            as: "client",
            ["--tlsv\(version)", "--tls-max", version]
        )
        #expect(result.status == 0 && result.output == "hello", "\(result.output)")
        #expect(result.chain == ["localhost: CN=client CN=inter CN=root"])
    }

    @Test(arguments: ["1.2", "1.3"], [nil, "expired", "revoked", "stranger", "wronguse"])
    func `if a certificate is required, curl is refused with an invalid certificate and without a certificate`(
        version: String,
        identity: String?
    ) async throws {
        let options = ["--tlsv\(version)", "--tls-max", version]
        let result = try await fetch("localhost", from: context(.required), as: identity, options)
        #expect(result.status != 0 && !result.output.contains("hello"))
        #expect(result.chain.isEmpty)
    }

    @Test
    func
        `if certificates are optional, curl connects without a certificate, and is refused with an invalid certificate`()
        async throws
    {
        let none = try await fetch("localhost", from: context(.optional), as: nil)
        #expect(none.output == "hello" && none.chain == ["localhost: "])
        let bad = try await fetch("localhost", from: context(.optional), as: "revoked")
        #expect(bad.status != 0 && bad.chain.isEmpty)
    }

    @Test func `curl verifies the certificate of each host name`() async throws {
        for name in ["localhost", "other.test", "a.wild.test"] {
            let result = try await fetch(name, from: context(nil), as: nil)
            #expect(result.output == "hello", "\(result.output)")
            #expect(result.chain == ["\(name): "])
        }
        let unknown = try await fetch("unknown.test", from: context(nil), as: nil)
        #expect(unknown.status == 60, "\(unknown.output)")
    }

    @Test(arguments: ["localhost", "other.test"])
    func `curl gets the stapled OCSP response for the certificate of the requested name`(name: String) async throws {
        let result = try await fetch(name, from: context(nil, staples: true), as: nil, ["--cert-status"])
        #expect(result.output == "hello", "\(result.output)")
        let without = try await fetch(name, from: context(nil), as: nil, ["--cert-status"])
        #expect(without.status == 91, "\(without.output)")
    }

    @Test(arguments: ["-tls1_2", "-tls1_3"])
    func `s_client resumes a session that contains a client certificate`(version: String) async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).session").path
        defer { try? FileManager.default.removeItem(atPath: file) }
        let pki = pki
        let seen = Events()
        try await Server.run(context: context(.required), application: { PeerPageHandler(seen) }) { server in
            let port = server.port
            try await NIOThreadPool.singleton.runIfActive {
                for (option, expected) in [("-sess_out", "New, "), ("-sess_in", "Reused, ")] {
                    let client = try InteractiveCommand(
                        Tool.openssl,
                        [
                            "s_client", "-connect", "127.0.0.1:\(port)", "-servername", "localhost", version, option,
                            file,
                        ]
                            + ["-cert", pki.file("client.pem").path, "-key", pki.file("client.key").path]
                            + ["-cert_chain", pki.file("inter.pem").path]
                    )
                    #expect(client.wait(for: expected))
                    client.send("hello\n")
                    #expect(client.wait(for: "hello"))
                    _ = client.finish()
                }
            }
        }
        #expect(seen.all == ["localhost: CN=client CN=inter CN=root", "localhost: CN=client CN=inter CN=root"])
    }
}

/// Answers a request, and records the server name and the client's chain.
private final class PeerPageHandler: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    private let seen: Events

    init(_ seen: Events) { self.seen = seen }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if let tls = try? context.pipeline.syncOperations.handler(type: OpenSSLHandler.self) {
            let chain = tls.verifiedPeerChain().map(\.subject).joined(separator: " ")
            seen.append("\(tls.connection?.info.serverName ?? "-"): \(chain)")
        }
        let page = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello"
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: page)))
            .whenComplete { _ in bound.value.close(promise: nil) }
    }
}
