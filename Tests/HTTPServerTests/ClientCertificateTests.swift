// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPLimits
import NIOCore
import NIOOpenSSL
import NIOPosix
import OpenSSLKit
import TLSTesting
import Testing

@testable import HTTPServer

/// The client certificates that responders get.
@Suite(.serialized, .enabled(if: TestPKI.isPossible && Tool.curl != nil, "needs openssl and curl"))
struct ClientCertificateTests {
    /// Answers with the server name of the connection and the subjects of the client's chain.
    private struct ChainPage: Responder {
        func respond(to head: borrowing RequestHead, on connection: Connection) -> ResponseMode {
            let chain = connection.clientChain.map(\.subject).joined(separator: " ")
            return .immediate(.text("\(connection.serverName ?? "-"): \(chain)"))
        }
    }

    @Test(arguments: ["--http1.1", "--http2"], [nil, "client"])
    func `a responder gets the verified chain of the client's certificate`(option: String, name: String?) async throws {
        let pki = try TestPKI.shared.get()
        var configuration = TLSConfiguration.server(
            try pki.identity("server"),
            applicationProtocols: ["h2", "http/1.1"]
        )
        configuration.clientCertificates = try ClientCertificatePolicy(
            mode: .optional,
            authorities: pki.certificates("root"),
            revocationLists: pki.lists("all.crl")
        )
        let context = try TLSContext(configuration)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let server = try await HTTPListener(
            group: group,
            limits: HTTPLimits(),
            responder: ChainPage(),
            clock: { 0 },
            makeTLS: { try OpenSSLHandler(server: context) },
            onError: { _, _ in }
        )
        let channel = try await server.listen(host: "127.0.0.1", port: 0)
        let certificate = name.map {
            ["--cert", pki.file("\($0)-chain.pem").path, "--key", pki.file("\($0).key").path]
        }
        let result = try await Tool.run(
            try #require(Tool.curl),
            ["-sS", option, "--noproxy", "*", "--max-time", "20", "-k"] + (certificate ?? [])
                + ["https://localhost:\(channel.localAddress?.port ?? 0)/"]
        )
        try await channel.close()
        await server.drain()
        try await group.shutdownGracefully()
        #expect(result.output == (name == nil ? "localhost: " : "localhost: CN=client CN=inter CN=root"))
    }
}
