// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import NIOOpenSSL
import NIOPosix
import OpenSSLKit
import SeededRandom
import Testing

/// Connections of curl, s_client and a SwiftNIO client to a server over TCP.
@Suite(.serialized) struct RealConnectionTests {
    @Test func `ten megabytes are echoed by a real server`() async throws {
        let fixture = try Fixture.shared.get()
        var message = ByteBuffer()
        var numbers = Random(seed: 9)
        let words = (0..<(10 << 20) / 8).map { _ in numbers.next() }
        unsafe words.withUnsafeBytes { bytes in _ = unsafe message.writeBytes(bytes) }
        try await Server.run(application: { EchoHandler() }) { server in
            let group = MultiThreadedEventLoopGroup.singleton
            let done = group.next().makePromise(of: Bool.self)
            let bytes = message
            _ = try await ClientBootstrap(group: group)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandlers([
                            OpenSSLHandler(client: fixture.client, serverName: "127.0.0.1"),
                            EchoClient(bytes, done),
                        ])
                    }
                }
                .connect(host: "127.0.0.1", port: server.port)
                .get()
            #expect(try await done.futureResult.get())
            #expect(try await server.events.atLeast(1) == ["handshake 1.3 http/1.1"])
        }
    }

    @Test(
        .enabled(if: Tool.isInstalled(Tool.curl), "needs curl"),
        arguments: [("1.2", ["--tlsv1.2", "--tls-max", "1.2"]), ("1.3", ["--tlsv1.3"])]
    )
    func `curl accepts the self-signed certificate and loads the page`(version: String, options: [String]) async throws
    {
        let pem = try Fixture.shared.get().identity.leaf.pem()
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).pem")
        try Data(pem.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try await Server.run(application: { PageHandler() }) { server in
            for host in ["localhost", "127.0.0.1"] {
                let result = try await Tool.run(
                    Tool.curl,
                    ["--silent", "--show-error", "--max-time", "120", "--http1.1", "--noproxy", "*", "--ipv4"]
                        + ["--cacert", file.path, "--output", "/dev/null"]
                        + ["--write-out", "%{http_code} %{size_download} %{ssl_verify_result}"]
                        + options + ["https://\(host):\(server.port)/"]
                )
                #expect(result.output == "200 \(PageHandler.size) 0")
                #expect(result.status == 0)
            }
            let handshake = "handshake \(version) http/1.1"
            #expect(try await server.events.atLeast(2) == [handshake, handshake])
        }
    }

    @Test(.enabled(if: Tool.isInstalled(Tool.curl), "needs curl"))
    func `plain HTTP to a TLS port is detected`() async throws {
        try await Server.run(application: { PageHandler() }) { server in
            let result = try await Tool.run(
                Tool.curl,
                ["--silent", "--max-time", "120", "--noproxy", "*", "http://127.0.0.1:\(server.port)/"]
            )
            #expect(result.status != 0)
            #expect(try await server.events.atLeast(1) == ["error plainHTTP"])
        }
    }

    @Test(.enabled(if: Tool.isInstalled(Tool.openssl), "needs the openssl command"), arguments: ["-tls1", "-tls1_1"])
    func `openssl s_client of an old version is refused`(option: String) async throws {
        try await Server.run(application: { EchoHandler() }) { server in
            let result = try await Tool.run(
                Tool.openssl,
                ["s_client", "-connect", "127.0.0.1:\(server.port)", option, "-cipher", "ALL:@SECLEVEL=0"]
            )
            #expect(result.output.contains("alert protocol version"), "\(result.output)")
            #expect(try await server.events.atLeast(1) == ["error handshakeFailed"])
        }
    }

    @Test(.enabled(if: Tool.isInstalled(Tool.openssl), "needs the openssl command"))
    func `TLS 1_2 is refused if 1_3 is the minimum`() async throws {
        try await Server.run(minimumVersion: .tls13, application: { EchoHandler() }) { server in
            let result = try await Tool.run(
                Tool.openssl,
                ["s_client", "-connect", "127.0.0.1:\(server.port)", "-tls1_2"]
            )
            #expect(result.output.contains("alert protocol version"), "\(result.output)")
        }
    }

    @Test(
        .enabled(if: Tool.isInstalled(Tool.openssl), "needs the openssl command"),
        arguments: ["AES128-GCM-SHA256", "ECDHE-ECDSA-AES128-SHA256", "ECDHE-ECDSA-AES256-SHA", "NULL-SHA256"]
    )
    func `ciphers without forward secrecy or AEAD are refused`(cipher: String) async throws {
        try await Server.run(application: { EchoHandler() }) { server in
            let result = try await Tool.run(
                Tool.openssl,
                ["s_client", "-connect", "127.0.0.1:\(server.port)", "-tls1_2", "-cipher", cipher + ":@SECLEVEL=0"]
            )
            #expect(result.output.contains("alert handshake failure"), "\(result.output)")
            #expect(try await server.events.atLeast(1) == ["error handshakeFailed"])
        }
    }

    @Test(.enabled(if: Tool.isInstalled(Tool.openssl), "needs the openssl command"))
    func `renegotiation is refused`() async throws {
        try await Server.run(application: { EchoHandler() }) { server in
            let port = server.port
            let result = try await NIOThreadPool.singleton.runIfActive {
                let client = try InteractiveCommand(
                    Tool.openssl,
                    ["s_client", "-connect", "127.0.0.1:\(port)", "-tls1_2"]
                )
                #expect(client.wait(for: "Verify return code"))
                client.send("R\n")
                #expect(client.wait(for: "RENEGOTIATING"))
                // The input stays open, because the client would otherwise not wait for the answer.
                #expect(client.wait(for: "no renegotiation"))
                return client.finish()
            }
            #expect(result.output.contains("no renegotiation"), "\(result.output)")
            let events = try await server.events.atLeast(1)
            #expect(events.filter { $0.hasPrefix("handshake") } == ["handshake 1.2 -"])
        }
    }

    @Test(
        .enabled(if: Tool.isInstalled(Tool.openssl), "needs the openssl command"),
        arguments: ["k", "K"]
    )
    func `data is received after a KeyUpdate, with and without a requested answer`(command: String) async throws {
        try await Server.run(application: { EchoHandler() }) { server in
            let port = server.port
            let result = try await NIOThreadPool.singleton.runIfActive {
                let client = try InteractiveCommand(
                    Tool.openssl,
                    ["s_client", "-connect", "127.0.0.1:\(port)", "-tls1_3"]
                )
                #expect(client.wait(for: "Verify return code"))
                for round in 1...3 {
                    client.send("\(command)\n")
                    #expect(client.wait(for: "KEYUPDATE"))
                    client.send("round \(round) of the echo\n")
                    #expect(client.wait(for: "round \(round) of the echo"))
                }
                client.send("Q\n")
                return client.finish()
            }
            #expect(result.status == 0)
            #expect(try await server.events.atLeast(1) == ["handshake 1.3 -"])
        }
    }

    @Test(
        .enabled(if: Tool.isInstalled(Tool.openssl), "needs the openssl command"),
        arguments: ["X25519", "P-256", "P-384"]
    )
    func `every group of the configuration is accepted`(group: String) async throws {
        try await Server.run(application: { EchoHandler() }) { server in
            let result = try await Tool.run(
                Tool.openssl,
                ["s_client", "-connect", "127.0.0.1:\(server.port)", "-groups", group, "-alpn", "http/1.1", "-brief"]
            )
            #expect(result.output.contains("CONNECTION ESTABLISHED"), "\(result.output)")
            #expect(try await server.events.atLeast(1).first == "handshake 1.3 http/1.1")
        }
    }

    @Test(.enabled(if: Tool.isInstalled(Tool.openssl), "needs the openssl command"))
    func `a client without a common protocol gets an alert`() async throws {
        try await Server.run(application: { EchoHandler() }) { server in
            let result = try await Tool.run(
                Tool.openssl,
                ["s_client", "-connect", "127.0.0.1:\(server.port)", "-alpn", "h2", "-brief"]
            )
            #expect(result.output.contains("no application protocol"), "\(result.output)")
            #expect(try await server.events.atLeast(1) == ["error handshakeFailed"])
        }
    }

    @Test(.enabled(if: Tool.isInstalled(Tool.openssl), "needs the openssl command"), arguments: ["-tls1_2", "-tls1_3"])
    func `sessions are resumed by ticket on the same server`(version: String) async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).session").path
        defer { try? FileManager.default.removeItem(atPath: file) }
        try await Server.run(application: { EchoHandler() }) { server in
            let port = server.port
            try await NIOThreadPool.singleton.runIfActive {
                for (option, expected) in [("-sess_out", "New, "), ("-sess_in", "Reused, ")] {
                    let client = try InteractiveCommand(
                        Tool.openssl,
                        ["s_client", "-connect", "127.0.0.1:\(port)", version, option, file]
                    )
                    // The echo arrives after the tickets. So the tickets have arrived when the session is saved.
                    #expect(client.wait(for: expected))
                    client.send("hello again\n")
                    #expect(client.wait(for: "hello again"))
                    client.send("Q\n")
                    #expect(client.finish().status == 0)
                }
            }
        }
    }
}
