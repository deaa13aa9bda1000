// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import NIOHTTP1
import RealmKit
import RealmVerifier
import Testing

@testable import NIORealms

@Suite struct AuthenticationTests {
    @Test func `a request with valid credentials reaches the application with its user and without the password`()
        async throws
    {
        let connection = try await Connection()
        try await connection.receive(get("/a", "ann"))
        let check = try await connection.nextCheck()
        #expect(check.name == "ann" && check.peer == "192.0.2.1" && connection.application.all.isEmpty)
        try check.accept()
        #expect(try await connection.statuses(1) == ["200"])
        #expect(connection.application.all == ["ann /a", "end"])
    }

    @Test func `the next request of a connection has its own user, or none`() async throws {
        let connection = try await Connection()
        for name in ["ann", "ben"] {
            try await connection.receive(get("/", name))
            try await connection.nextCheck().accept()
            _ = try await connection.statuses(name == "ann" ? 1 : 2)
        }
        try await connection.receive(get("/"))
        #expect(try await connection.statuses(3) == ["200", "200", "401"])
        #expect(connection.application.all == ["ann /", "end", "ben /", "end"] && connection.waiting == 0)
    }

    @Test(arguments: [
        "", "Authorization: Bearer YW5uOnJpZ2h0\r\n", "Authorization: Basic YW5u\r\n", "Authorization: Basic *\r\n",
        "Authorization: Basic YW5uOnJpZ2h0\r\nAuthorization: Basic YW5uOnJpZ2h0\r\n",
    ])
    func `a request without usable credentials gets the challenge, and is not checked`(fields: String) async throws {
        let connection = try await Connection()
        try await connection.receive(get("/", nil, fields))
        let output = try await connection.output()
        #expect(output.hasPrefix("HTTP/1.1 401 Unauthorized\r\n") && output.hasSuffix("\r\n\r\nUnauthorized\n"))
        #expect(output.contains("WWW-Authenticate: Basic realm=\"team\", charset=\"UTF-8\"\r\n"))
        #expect(output.contains("Content-Length: 13\r\n") && !output.contains("close"))
        #expect(connection.application.all.isEmpty && connection.waiting == 0)
        #expect(connection.channel.isActive)
    }

    @Test func `refused and unavailable are 401 and 503, and do not reach the application`() async throws {
        let connection = try await Connection()
        try await connection.receive(get("/", "ann"))
        try await connection.nextCheck().finish(.refused)
        #expect(try await connection.statuses(1) == ["401"])
        try await connection.receive(get("/", "ann"))
        try await connection.nextCheck().finish(.unavailable)
        #expect(try await connection.statuses(2) == ["401", "503"])
        let output = try await connection.output()
        #expect(output.contains("Retry-After: 5\r\n") && output.components(of: "WWW-Authenticate").count == 2)
        #expect(connection.application.all.isEmpty)
    }

    @Test(arguments: ["POST", "PUT", "DELETE", "PATCH", "PURGE"])
    func `a page of another site changes nothing, even with credentials`(method: String) async throws {
        let connection = try await Connection()
        for site in ["cross-site", "same-site", "x"] {
            try await connection.receive(get("/", "ann", "Sec-Fetch-Site: \(site)\r\n", method: method))
        }
        #expect(try await connection.statuses() == ["403", "403", "403"] && connection.waiting == 0)
        try await connection.receive(get("/", "ann", "Sec-Fetch-Site: same-origin\r\n", method: method))
        try await connection.nextCheck().accept()
        try await connection.receive(get("/", "ann", "Sec-Fetch-Site: cross-site\r\n"))
        try await connection.nextCheck().accept()
        #expect(try await connection.statuses(5).suffix(2) == ["200", "200"])
    }

    @Test func `the address is that which the server gives`() async throws {
        let connection = try await Connection(peer: "2001:db8::1")
        try await connection.receive(get("/", "ann"))
        let check = try await connection.nextCheck()
        #expect(check.peer == "2001:db8::1")
        check.finish(.refused)
        _ = try await connection.statuses(1)
    }

    // MARK: HEAD and Expect

    @Test func `the response to HEAD has no body, and the next response follows it`() async throws {
        let connection = try await Connection()
        try await connection.receive(get("/", method: "HEAD") + get("/"))
        let output = try await connection.output()
        let responses = output.components(of: "HTTP/1.1 ")
        #expect(responses.count == 3 && responses[0] == "" && responses[1].hasSuffix("\r\n\r\n"))
        #expect(responses[1].contains("Content-Length: 13\r\n") && responses[2].hasSuffix("\r\n\r\nUnauthorized\n"))
    }

    @Test func `a refused client that waits to send its body gets no 100, and the connection is closed`() async throws {
        let connection = try await Connection()
        let fields = "Expect: 100-continue\r\nContent-Length: 3\r\n"
        try await connection.receive(get("/", "ann", fields, method: "PUT"))
        try await connection.nextCheck().finish(.refused)
        #expect(try await connection.statuses(1) == ["401"])
        try await connection.wait { !connection.channel.isActive }
        #expect(try await connection.output().contains("Connection: close\r\n"))
    }

    @Test func `an accepted client that waits to send its body gets 100 from the application`() async throws {
        let connection = try await Connection()
        let fields = "Expect: 100-continue\r\nContent-Length: 3\r\n"
        try await connection.receive(get("/", "ann", fields, method: "PUT"))
        try await connection.nextCheck().accept()
        try await connection.wait { connection.application.all.count == 1 }
        try await connection.inApplication { _, context in
            let head = HTTPResponseHead(version: .http1_1, status: .continue)
            context.writeAndFlush(Application.wrapOutboundOut(.head(head)), promise: nil)
        }
        try await connection.receive("abc")
        #expect(try await connection.statuses(2) == ["100", "200"])
        #expect(connection.application.all == ["ann /", "3 bytes", "end"] && connection.channel.isActive)
    }

    // MARK: Connections that are not kept

    @Test func `a refused request of HTTP 1_0, with Connection close or for an upgrade is the last one`() async throws {
        // NIO's parser stops after a request to upgrade.
        let upgrade = "Connection: Upgrade\r\nUpgrade: h2c\r\n"
        for request in [
            "GET / HTTP/1.0\r\n\r\n", get("/", nil, "Connection: close\r\n"), get("/", nil, upgrade),
            get("localhost:80", method: "CONNECT"),
        ] {
            let connection = try await Connection()
            try await connection.receive(request + get("/", "ann"))
            try await connection.wait { !connection.channel.isActive }
            #expect(try await connection.statuses() == ["401"] && connection.waiting == 0)
        }
    }

    @Test(arguments: ["Connection: close\r\n", "Connection: Upgrade\r\nUpgrade: h2c\r\n"])
    func `the connection is closed after a response to a request that does not keep it alive`(
        fields: String
    ) async throws {
        let connection = try await Connection(answers: false)
        try await connection.receive(get("/", "ann", fields) + get("/", "ann"))
        try await connection.nextCheck().accept()
        try await connection.wait { connection.application.all.count == 2 }
        try await connection.inApplication { application, context in application.answer(context) }
        try await connection.wait { !connection.channel.isActive }
        // NIO's parser may refuse what follows.
        let statuses = try await connection.statuses()
        #expect(statuses.filter { $0 != "400" } == ["200"] && statuses.first == "200" && connection.waiting == 0)
    }

    @Test func `no request is checked after a response with Connection close`() async throws {
        let connection = try await Connection(answers: false)
        try await connection.receive(get("/", "ann") + get("/", "ann"))
        try await connection.nextCheck().accept()
        try await connection.wait { connection.application.all.count == 2 }
        try await connection.inApplication { application, context in
            application.answer(context, ["Content-Length": "0", "Connection": "close"])
        }
        try await connection.wait { !connection.channel.isActive }
        #expect(try await connection.statuses() == ["200"] && connection.waiting == 0)
    }
}

extension String {
    func components(of separator: String) -> [Substring] {
        var (rest, parts) = (self[...], [Substring]())
        while let range = rest.firstRange(of: separator) {
            parts.append(rest[..<range.lowerBound])
            rest = rest[range.upperBound...]
        }
        return parts + [rest]
    }
}
