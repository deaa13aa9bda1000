// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPLimits
import HTTPTypes
import NIOCore
import NIOOpenSSL
import NIOPosix
import OpenSSLKit
import Synchronization
import TLSTesting
import Testing

@testable import HTTPServer

/// Real clients that negotiate HTTP/2.
@Suite(.serialized, .enabled(if: TestPKI.isPossible && Tool.curl != nil, "needs openssl and curl"))
struct HTTP2ServerTests {
    private func serve<R>(
        _ reply: @escaping @Sendable (_ method: String, _ target: String) -> ResponseMode,
        _ body: (Int) async throws -> R
    ) async throws -> R {
        let pki = try TestPKI.shared.get()
        let context = try TLSContext(
            .server(try pki.identity("server"), applicationProtocols: ["h2", "http/1.1"])
        )
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let server = try await HTTPListener(
            group: group,
            limits: HTTPLimits(),
            responder: PageResponder(reply: reply),
            clock: { 0 },
            makeTLS: { try OpenSSLHandler(server: context, configuration: OpenSSLHandlerConfiguration()) },
            onError: { _, _ in }
        )
        let channel = try await server.listen(host: "127.0.0.1", port: 0)
        let result: Result<R, any Error>
        do {
            result = .success(try await body(channel.localAddress?.port ?? 0))
        } catch {
            result = .failure(error)
        }
        try await channel.close()
        await server.drain()
        try await group.shutdownGracefully()
        return try result.get()
    }

    private func curl(_ port: Int, _ path: String, _ options: String...) async throws -> (status: Int32, output: String)
    {
        try await Tool.run(
            try #require(Tool.curl),
            [
                "-q", "-sS", "--http2", "--noproxy", "*", "--max-time", "120", "-k", "-w",
                "|%{http_code}|%{http_version}",
            ]
                + options
                + ["https://localhost:\(port)\(path)"]
        )
    }

    @Test func `curl gets a response over HTTP/2`() async throws {
        try await serve({ _, target in .immediate(PageResponder.page("at \(target)")) }) { port in
            let result = try await curl(port, "/x")
            #expect(result.status == 0 && result.output == "at /x|200|2")
            // The same server answers over HTTP/1.1.
            let other = try await curl(port, "/x", "--http1.1")
            #expect(other.status == 0 && other.output == "at /x|200|1.1")
        }
    }

    @Test(arguments: [0, 1, 5000, 65_536])
    func `a task gets the whole body`(count: Int) async throws {
        let reply: @Sendable (String, String) -> ResponseMode = { _, _ in
            .deferred { .text("\($0.readableBytes)") }
        }
        try await serve(reply) { port in
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("gatehouse-h2-\(UUID())")
            try Data(repeating: 0x61, count: count).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let known = try await curl(port, "/", "--data-binary", "@\(file.path)")
            #expect(known.status == 0 && known.output == "\(count)|200|2", "\(known)")
            let unknown = try await curl(port, "/", "-H", "content-length:", "-T", file.path)
            #expect(unknown.output == "\(count)|200|2", "\(unknown)")
        }
    }

    @Test func `a body of unknown length that becomes too long is refused`() async throws {
        let reply: @Sendable (String, String) -> ResponseMode = { _, _ in
            .deferred { _ in .text("") }
        }
        try await serve(reply) { port in
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("gatehouse-h2-\(UUID())")
            try Data(repeating: 0x61, count: 300_000).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let result = try await curl(port, "/", "-H", "content-length:", "-T", file.path)
            #expect(result.output.hasSuffix("|413|2"), "\(result)")
        }
    }

    @Test func `a body that no task reads does not disturb later requests`() async throws {
        let reply: @Sendable (String, String) -> ResponseMode = { _, _ in
            .deferred { _ in .text("done") }
        }
        try await serve(reply) { port in
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("gatehouse-h2-\(UUID())")
            try Data(repeating: 0x61, count: 60_000).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            for _ in 0..<5 {
                let result = try await curl(port, "/", "--data-binary", "@\(file.path)")
                #expect(result.output == "done|200|2", "\(result)")
            }
        }
    }

    @Test(arguments: [true, false])
    func `a response that is prepared in a task arrives, and the body of its request is skipped`(
        beginsOnEventLoop: Bool
    ) async throws {
        let reply: @Sendable (String, String) -> ResponseMode = { _, target in
            .prepared(beginsOnEventLoop: beginsOnEventLoop) {
                if target == "/wait" { await Task.yield() }
                return PageResponder.page("at \(target)")
            }
        }
        try await serve(reply) { port in
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("gatehouse-h2-\(UUID())")
            try Data(repeating: 0x61, count: 60_000).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            for path in ["/wait", "/now", "/wait"] {
                let result = try await curl(port, path)
                #expect(result.output == "at \(path)|200|2", "\(result)")
                let posted = try await curl(port, path, "--data-binary", "@\(file.path)")
                #expect(posted.output == "at \(path)|200|2", "\(posted)")
            }
        }
    }

    @Test func `a long response is sent completely, with and without a known length`() async throws {
        let reply: @Sendable (String, String) -> ResponseMode = { _, target in
            .deferred { _ in
                let part = ByteBuffer(repeating: 0x7A, count: 10_000)
                guard target == "/unknown" else { return .text(String(repeating: "z", count: 4_000_000)) }
                let parts = AsyncStream.of(Array(repeating: part, count: 399))
                return .stream(HTTPResponse(status: .ok), first: part, later: parts)
            }
        }
        try await serve(reply) { port in
            for path in ["/known", "/unknown"] {
                let result = try await curl(port, path, "-o", "/dev/null", "-w", "%{size_download}|%{http_code}")
                #expect(result.output == "4000000|200", "\(path) \(result)")
            }
        }
    }

    @Test func `the task of a client that disconnects is cancelled`() async throws {
        let (seen, source) = AsyncStream.makeStream(of: String.self)
        let hasBegun = Mutex(false)
        let reply: @Sendable (String, String) -> ResponseMode = { _, _ in
            .deferred { _ in
                let (never, end) = AsyncStream.makeStream(of: Void.self)
                source.yield("begun")
                hasBegun.withLock { $0 = true }
                await withTaskCancellationHandler {
                    for await _ in never {}
                } onCancel: {
                    end.finish()
                    source.yield("cancelled")
                }
                return .text("")
            }
        }
        try await serve(reply) { port in
            // On a busy machine the client may reach its time limit before the request arrives. The time is then increased.
            for seconds in [1, 5, 30, 120] where !hasBegun.withLock({ $0 }) {
                #expect(try await curl(port, "/", "--max-time", "\(seconds)").status != 0)
            }
            try #require(hasBegun.withLock { $0 })
            var words: [String] = []
            for await word in seen {
                words.append(word)
                if word == "cancelled" { break }
            }
            #expect(words == ["begun", "cancelled"])
        }
    }

    @Test(.enabled(if: Tool.h2load != nil, "needs h2load"))
    func `h2load gets hundreds of responses over a few connections`() async throws {
        try await serve({ _, _ in .immediate(PageResponder.page("hello")) }) { port in
            let result = try await Tool.run(
                try #require(Tool.h2load),
                ["-n", "400", "-c", "4", "-m", "50", "https://localhost:\(port)/"]
            )
            #expect(result.output.contains("400 succeeded, 0 failed"), "\(result.output)")
        }
    }
}

/// Runs programs of the operating system.
enum Tool {
    static let curl = path("curl")
    static let h2load = path("h2load")

    private static func path(_ name: String) -> String? {
        let path = "/usr/bin/\(name)"
        return FileManager.default.isExecutableFile(atPath: path) ? path : nil
    }

    static func run(_ program: String, _ arguments: [String]) async throws -> (status: Int32, output: String) {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        // A separate thread waits, because the server needs the few threads that run tasks.
        return await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let data = output.fileHandleForReading.readDataToEndOfFile()
                process.waitUntilExit()
                continuation.resume(returning: (process.terminationStatus, String(decoding: data, as: UTF8.self)))
            }
        }
    }
}
