// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The server, built with these tests, over HTTP/1.1 and HTTP/2.
@Suite(.enabled(if: Program.hasCurl, "curl is not installed"))
struct HTTP2Tests {
    private struct Answer: Hashable {
        let status: Int
        let fields: Set<String>
        let body: String
    }

    private func request(
        _ server: RunningServer,
        _ version: String,
        _ path: String,
        _ more: [String]
    ) async throws -> Answer {
        let curl = try #require(Program.system("curl"))
        let options = [
            "-sS", version, "--noproxy", "*", "--path-as-is", "--max-time", "120", "--cacert", server.certificate, "-i",
            "-w", "\n%{http_code} %{http_version}",
        ]
        let output = try await Program.run(curl, options + more + [server.url + path]).output
            .replacing("\r\n", with: "\n")
        let last = output.split(separator: "\n").last?.split(separator: " ") ?? []
        #expect(last.last == (version == "--http2" ? "2" : "1.1"), "\(path) \(more) \(output)")
        let end = output.range(of: "\n\n")
        let lines = output[..<(end?.lowerBound ?? output.endIndex)].split(separator: "\n").dropFirst()
        let fields = lines.map { $0.prefix { $0 != ":" }.lowercased() + $0.drop { $0 != ":" } }
            .filter { !$0.hasPrefix("date:") && !$0.hasPrefix("connection:") }
        return Answer(
            status: last.first.flatMap { Int($0) } ?? 0,
            fields: Set(fields),
            body: output[(end?.upperBound ?? output.endIndex)...].split(separator: "\n").dropLast().joined(
                separator: "\n"
            )
        )
    }

    static let requests: [(String, [String])] = [
        ("/", []),
        ("/", ["-H", "Accept: text/html"]),
        ("/style.css", []),
        ("/welcome", []),
        ("/welcome", ["-u", "zed:any"]),
        ("/welcome", ["-u", "zed:any"]),
        ("/welcome", ["-u", "zed:any", "-H", "Accept: text/html"]),
        ("/welcome", ["-u", "bob:any"]),
        ("/welcome", ["-u", "zed:any", "-I"]),
        ("/welcome", ["-u", "zed:any", "-d", "a=b"]),
        ("/welcome", ["-H", "Authorization: Basic !!"]),
        ("/welcome", ["-H", "Authorization: Bearer x"]),
        ("/welcome", ["-u", "zed:any", "-H", "Cookie: a=b; c=d"]),
        ("/%2e%2e/welcome", []),
        ("/a//b", []),
        ("/nowhere", []),
        ("/ann", ["-u", "alf:x"]),
        ("/staff", ["-u", "alf:x"]),
        ("/slow", ["-u", "any:x"]),
        ("/down", ["-u", "any:x"]),
        ("/broken", ["-u", "any:x"]),
        ("/", ["-X", "DELETE"]),
        ("/", ["-X", "OPTIONS", "--request-target", "*"]),
        ("/", ["-H", "Host: a b"]),
        ("/" + String(repeating: "a", count: 9000), []),
        ("/", ["-H", "X: " + String(repeating: "a", count: 9000)]),
        ("/", ["-H", "Expect: miracles"]),
    ]

    @Test func `the answers over HTTP/2 are the same as over HTTP/1.1`() async throws {
        let configuration = ServerTests.configuration.replacing("delay=\"1s\"", with: "delay=\"100ms\"")
        let server = try await RunningServer(configuration)
        for (path, more) in Self.requests {
            let old = try await request(server, "--http1.1", path, more)
            let new = try await request(server, "--http2", path, more)
            #expect(old == new, "\(path.prefix(40)) \(more.map { $0.prefix(40) })")
        }
        #expect(await server.end() == 0)
    }

    @Test func `HTTP/2 can be turned off`() async throws {
        let configuration = ServerTests.configuration
            .replacing("127.0.0.1:0;", with: "127.0.0.1:0; http2 off;")
        let server = try await RunningServer(configuration)
        let answer = try await server.request(
            "/",
            "--http2",
            "-o",
            "/dev/null",
            "-w",
            "%{http_version}|%{http_code}\n%{http_code}"
        )
        #expect(answer.body == "1.1|200")
    }
}
