// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Malformed and pipelined requests to the server that was built with these tests.
@Suite(.enabled(if: Program.system("openssl") != nil, "openssl is not installed"))
struct MalformedRequestTests {
    private static func configuration(headerTime: String = "10s") -> String {
        """
        default-realm xtech;
        login xtechMyRealm { org.xtech.examples.gfloginmodule.MyLoginModule required; }
        login slow { ScriptedLoginModule required delay="300ms" groups="User"; }
        realm xtech { class StartWithRealm; }
        realm slow  { class StackRealm; jaas-context slow; }
        server { listen 127.0.0.1:0; limits { header-time \(headerTime); } }
        protect /welcome { require group User; }
        protect /slow    { realm slow; require any; }
        """
    }

    /// Sends bytes over TLS and waits until the server closes.
    private func send(_ text: String, to server: RunningServer) async throws -> Finished {
        let openssl = try #require(Program.system("openssl"))
        // With -quiet, openssl continues to read after the end of its input.
        let options = ["s_client", "-quiet", "-connect", "localhost:\(server.port)", "-CAfile", server.certificate]
        return try await Program.run(
            openssl,
            options + ["-verify_return_error", "-servername", "localhost"],
            input: text
        )
    }

    private func statuses(_ answer: String) -> [String] {
        answer.components(separatedBy: "HTTP/1.1 ").dropFirst().map { String($0.prefix(3)) }.filter { Int($0) != nil }
    }

    private static let next = "GET /style.css HTTP/1.1\r\nHost: localhost\r\n\r\n"

    static let malformed: [(name: String, request: String, status: String)] = [
        ("two Hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "400"),
        ("no Host", "GET / HTTP/1.1\r\n\r\n", "400"),
        (
            "length and coding",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 60\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400"
        ),
        ("an obscured coding", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: x chunked\r\n\r\n0\r\n\r\n", "400"),
        ("bare line feeds", "GET / HTTP/1.1\nHost: a\n\n", "400"),
        ("no HTTP", "what?\r\n\r\n", "400"),
        ("a long target", "GET /\(String(repeating: "a", count: 9000)) HTTP/1.1\r\nHost: a\r\n\r\n", "414"),
        ("a long field", "GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "a", count: 17_000))\r\n\r\n", "431"),
        ("an unknown version", "GET / HTTP/3.0\r\nHost: a\r\n\r\n", "505"),
        ("too long a body", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n", "413"),
    ]

    @Test func `a malformed request gets one response with security fields, is logged, and ends the connection`()
        async throws
    {
        let server = try await RunningServer(Self.configuration())
        for (name, request, status) in Self.malformed {
            let finished = try await send(request + Self.next, to: server)
            #expect(statuses(finished.output) == [status], "\(name): \(finished.output) \(finished.errors)")
            #expect(finished.output.contains("\r\nConnection: close\r\n"), "\(name)")
            for field in ["Content-Security-Policy: default-src 'none'", "X-Content-Type-Options: nosniff"] {
                #expect(finished.output.lowercased().contains("\r\n\(field.lowercased())"), "\(name): \(field)")
            }
            // OpenSSL reports this error if the connection ends without close_notify.
            #expect(!finished.errors.contains("unexpected eof"), "\(name): \(finished.errors)")
        }
        #expect(await server.end() == 0)
        for status in ["400", "413", "414", "431", "505"] { #expect(server.log.contains(" \(status) "), "\(status)") }
        #expect(!server.log.contains("style.css"))
    }

    @Test func `an unfinished head gets 408, and its connection closes`() async throws {
        let server = try await RunningServer(Self.configuration(headerTime: "1s"))
        async let silent = send("", to: server)
        let finished = try #require(
            try await Program.first {
                let finished = try await send("GET / HTTP/1.1\r\nHost: a\r\nX: ", to: server)
                // On a busy machine, the first bytes may arrive too late. The server then closes the connection without a
                // response, and the test tries again.
                return finished.output.isEmpty ? nil : finished
            }
        )
        #expect(statuses(finished.output) == ["408"])
        #expect(finished.output.contains("\r\nConnection: close\r\n"))
        #expect(!finished.errors.contains("unexpected eof"))
        // A client that sends nothing gets no response.
        #expect(try await silent.output == "")
    }

    @Test func `a request inside a body is not answered; pipelined requests are answered in order`() async throws {
        let server = try await RunningServer(Self.configuration())
        let hidden = "GET /welcome HTTP/1.1\r\nHost: a\r\nAuthorization: Basic emVkOng=\r\n\r\n"
        let inBody = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(hidden.utf8.count)\r\n\r\n" + hidden
        let last = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
        #expect(statuses(try await send(inBody + last, to: server).output) == ["405", "200"])
        let chunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        #expect(statuses(try await send(chunked + hidden + last, to: server).output) == ["405", "200", "200"])
        let trailer = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: y\r\n" + hidden
        #expect(statuses(try await send(trailer + last, to: server).output) == ["405"])
    }

    @Test func `responses of both lanes keep the order of the requests`() async throws {
        let server = try await RunningServer(Self.configuration())
        let requests = ["/slow", "/", "/welcome", "/nothing", "/slow", "/welcome"].map {
            "GET \($0) HTTP/1.1\r\nHost: a\r\nAuthorization: Basic emVkOng=\r\n\r\n"
        }
        let last = "GET /x HTTP/1.0\r\n\r\n"
        let answer = try await send(requests.joined() + last, to: server)
        #expect(statuses(answer.output) == ["200", "200", "200", "404", "200", "200", "404"])
    }

    @Test func `the server continues after it has answered a login before the end of the request body`()
        async throws
    {
        // The header time is also the time for which the server waits for the rest of a body.
        let server = try await RunningServer(Self.configuration(headerTime: "1s"))
        for user in ["zed", "bob"] {
            let token = Data("\(user):x".utf8).base64EncodedString()
            let request = "POST /welcome HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 5000\r\n"
            // The requests are sent at the same time, because each waits until the server closes the connection.
            let answers = try await withThrowingTaskGroup { clients in
                for _ in 0..<10 {
                    clients.addTask {
                        try await Program.first {
                            let answer = try await send(request + "Authorization: Basic \(token)\r\n\r\nx", to: server)
                            // On a busy machine, the head of a request may arrive too late. The answer is then 408, and
                            // the test tries again.
                            return statuses(answer.output).first.flatMap { $0 == "408" ? nil : $0 }
                        }
                    }
                }
                return try await clients.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.count == 10)
            for status in answers { #expect(["401", "405"].contains(status)) }
        }
        #expect(await server.end() == 0)
    }
}
