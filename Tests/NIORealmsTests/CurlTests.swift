// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import NIORealms
import RealmKit
import RealmVerifier
import Testing

/// A server with real sockets, realms and clients.
@Suite(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/curl"), "needs curl")) struct CurlTests {
    /// Runs curl against a server, and returns what it prints.
    private func curl(_ arguments: [String]) async throws -> String {
        let verifier = try await RealmVerifier(logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }) {
            RealmDefinition("team") { name, password in
                if name == "cut" { throw LoginFault.unavailable("the table is locked") }
                return name == "ann" && password.isEqual(to: Secret(utf8: "right")) ? ["Staff"] : nil
            }
        }
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.configureHTTPServerPipeline()
                    try pipeline.addHandler(HTTPServerAuthenticationHandler(verifier))
                    try pipeline.addHandler(Echo())
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let url = "http://127.0.0.1:\(listener.localAddress?.port ?? 0)/"
        let output = try await NIOThreadPool.singleton.runIfActive {
            let (process, pipe) = (Process(), Pipe())
            process.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
            process.arguments = ["--silent", "--max-time", "60", "--noproxy", "*"] + arguments + [url, url]
            process.standardOutput = pipe
            try process.run()
            let data = pipe.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            return String(decoding: data, as: UTF8.self)
        }
        try await listener.close()
        return output
    }

    // Each URL is requested twice, and the second request uses the connection of the first if it is kept.
    private static let printsStatus = [
        "--output", "/dev/null", "--output", "/dev/null", "--write-out", "%{http_code} %{num_connects}\n",
    ]

    @Test func `an accepted user sends bodies and gets responses`() async throws {
        let body = String(repeating: "x", count: 100_000)
        let output = try await curl(["--user", "ann:right", "--data", body])
        #expect(output == "ann 100000\nann 100000\n")
    }

    @Test func `an accepted client that expects 100 sends its body after a while`() async throws {
        let expect = ["--header", "Expect: 100-continue", "--expect100-timeout", "0.01"]
        #expect(try await curl(["--user", "ann:right", "--data", "abc"] + expect) == "ann 3\nann 3\n")
    }

    @Test(arguments: [("ann:wrong", "401"), ("ben:", "401"), ("cut:right", "503")])
    func `a refused client gets the status on a connection that is kept`(user: String, status: String) async throws {
        let output = try await curl(["--user", user, "--data", "abc"] + Self.printsStatus)
        #expect(output == "\(status) 1\n\(status) 0\n")
    }

    @Test func `a client that learns of the scheme by the challenge is accepted`() async throws {
        #expect(try await curl(["--anyauth", "--user", "ann:right", "--data", "abc"]) == "ann 3\nann 3\n")
    }

    @Test func `the response to HEAD ends after its head`() async throws {
        let output = try await curl(["--head"])
        #expect(output.components(separatedBy: "401 Unauthorized\r\n").count == 3 && !output.contains("\nUnauthorized"))
    }
}

/// Answers with the user and the length of the body.
private final class Echo: ChannelInboundHandler {
    typealias InboundIn = AuthenticatedRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private var user = ""
    private var count = 0

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch Self.unwrapInboundIn(data) {
        case .head(let request): (user, count) = (request.user.username.text, 0)
        case .body(let body): count += body.readableBytes
        case .end:
            let text = ByteBuffer(string: "\(user) \(count)\n")
            let head = HTTPResponseHead(
                version: .http1_1,
                status: .ok,
                headers: ["Content-Length": "\(text.readableBytes)"]
            )
            context.write(Self.wrapOutboundOut(.head(head)), promise: nil)
            context.write(Self.wrapOutboundOut(.body(.byteBuffer(text))), promise: nil)
            context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}
