// SPDX-License-Identifier: Apache-2.0

import HTTPSClient
import HTTPSTesting
import TLSTesting
import TestTools
import Testing

@Suite(.enabled(if: TestPKI.isPossible, "openssl is not installed"))
struct ResponseTests {
    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", 200, "hi"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nh\r\n1\r\ni\r\n0\r\n\r\n", 200, "hi"),
        ("HTTP/1.1 204 No Content\r\n\r\n", 204, ""),
        ("HTTP/1.1 302 Found\r\nLocation: https://localhost/other\r\nContent-Length: 0\r\n\r\n", 302, ""),
        (
            "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
            200, "hi"
        ),
        ("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", 200, "hi"),
        ("HTTP/1.1 500 Oops\r\nContent-Encoding: identity\r\nContent-Length: 1\r\n\r\nx", 500, "x"),
    ])
    func `responses in one piece, and byte by byte`(text: String, status: Int, body: String) async throws {
        for size in [text.utf8.count, 1] {
            try await Fixture.withService(respond: { _ in [.pieces(Array(text.utf8), size: size)] }) { service in
                let response = try await Fixture.client().get(service.url())
                #expect(response.status == status)
                #expect(response.body == Array(body.utf8))
                #expect(service.requests.count == 1)
            }
        }
    }

    @Test(arguments: ["HTTP/1.1 200 OK\r\n\r\nhi", "HTTP/1.0 200 OK\r\n\r\nhi"])
    func `a body that ends with the connection needs a close_notify`(text: String) async throws {
        try await Fixture.withService(respond: { _ in [.send(text), .close] }) { service in
            let client = try Fixture.client()
            #expect(try await client.get(service.url()).body == Array("hi".utf8))
        }
        try await Fixture.withService(respond: { _ in [.send(text), .abort] }) { service in
            let error = try await #require(throws: HTTPSClientError.self) {
                try await Fixture.client().get(service.url())
            }
            #expect(error.code == .connectionClosed)
            #expect(error.mayHaveReachedServer)
        }
    }

    @Test(arguments: [
        ("garbage\r\n\r\n", HTTPSClientError.Code.malformedResponse),
        ("\u{0}\u{1}\u{2}", .malformedResponse),
        ("HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n", .malformedResponse),
        ("HTTP/0.9 200 OK\r\nContent-Length: 2\r\n\r\nhi", .malformedResponse),
        ("HTTP/1.2 200 OK\r\nContent-Length: 2\r\n\r\nhi", .malformedResponse),
        ("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n", .malformedResponse),
        ("HTTP/1.0 200 OK\r\nContent-Length: 10\r\n\r\nhi", .connectionClosed),
        ("HTTP/1.1 700 Odd\r\nContent-Length: 0\r\n\r\n", .malformedResponse),
        ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", .malformedResponse),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx", .malformedResponse),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", .malformedResponse),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", .malformedResponse),
        ("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nxx", .malformedResponse),
        ("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhi", .connectionClosed),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhi", .connectionClosed),
        ("HTTP/1.1 200 OK\r\nContent-Le", .connectionClosed),
        ("", .connectionClosed),
        ("HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\nhi", .responseTooLarge),
        ("HTTP/1.1 200 OK\r\nX: \(String(repeating: "x", count: 70_000))\r\n\r\n", .responseHeadTooLarge),
    ])
    func `malformed and incomplete responses`(text: String, code: HTTPSClientError.Code) async throws {
        try await Fixture.withService(respond: { _ in [.send(text), .close] }) { service in
            let client = try Fixture.client()
            let error = try await #require(throws: HTTPSClientError.self) { try await client.get(service.url()) }
            #expect(error.code == code, "\(error)")
            #expect(error.mayHaveReachedServer)
            #expect(service.requests.count == 1)
        }
    }

    @Test func `a body of 10 GB ends at the limit`() async throws {
        let head = "HTTP/1.1 200 OK\r\n\r\n"
        try await Fixture.withService(respond: { _ in [.send(head), .flood(10_000_000_000)] }) { service in
            let client = try Fixture.client { $0.maximumBody = 100_000 }
            let error = try await #require(throws: HTTPSClientError.self) { try await client.get(service.url()) }
            #expect(error.code == .responseTooLarge)
            try await Waiting.until { service.closedConnections == 1 }
            #expect(service.floodBytes < 100_000_000)
        }
    }

    @Test(arguments: [
        ("HTTP/1.1 100 Continue\r\n\r\n", "", HTTPSClientError.Code.malformedResponse),
        ("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", "", .malformedResponse),
        (
            ";" + String(repeating: "x", count: 1000),
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1", .responseTooLarge
        ),
        (
            "1;xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n.\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            .responseTooLarge
        ),
    ])
    func `what a service repeats without an end is no endless work`(
        part: String,
        head: String,
        code: HTTPSClientError.Code
    ) async throws {
        let endless = head + String(repeating: part, count: 10_000_000 / part.utf8.count)
        try await Fixture.withService(respond: { _ in [.pieces(Array(endless.utf8), size: 10_000)] }) { service in
            let client = try Fixture.client { $0.maximumBody = 65_536 }
            let error = try await #require(throws: HTTPSClientError.self) { try await client.get(service.url()) }
            #expect(error.code == code, "\(error)")
            try await Waiting.until { service.closedConnections == 1 }
        }
    }

    @Test func `sixteen informational responses are allowed, for each request of a connection`() async throws {
        let text = String(repeating: "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", count: 16)
        try await Fixture.withService(respond: { _ in [.send(text), Fixture.response("hi")] }) { service in
            let client = try Fixture.client()
            for _ in 0..<3 { #expect(try await client.get(service.url()).body == Array("hi".utf8)) }
            #expect(service.connections == 1)
        }
    }

    @Test func `a body in chunks of one byte is within the limit of all bytes`() async throws {
        let chunks = String(repeating: "1\r\nx\r\n", count: 20_000)
        let text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)0\r\n\r\n"
        try await Fixture.withService(respond: { _ in [.send(text)] }) { service in
            let client = try Fixture.client { $0.maximumBody = 20_000 }
            for _ in 0..<2 { #expect(try await client.get(service.url()).body.count == 20_000) }
        }
    }

    @Test func `a connection with bytes after the response is not used again`() async throws {
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
        try await Fixture.withService(respond: { _ in [.send(text)] }) { service in
            let client = try Fixture.client()
            for _ in 0..<3 { #expect(try await client.get(service.url()).body == Array("hi".utf8)) }
            #expect(service.connections == 3)
        }
    }

    @Test func `a connection with a response of HTTP/1.0 is not used again`() async throws {
        let text = "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi"
        try await Fixture.withService(respond: { _ in [.send(text)] }) { service in
            let client = try Fixture.client()
            for _ in 0..<3 { #expect(try await client.get(service.url()).body == Array("hi".utf8)) }
            #expect(service.connections == 3)
        }
    }

    @Test func `a response to HEAD has no body`() async throws {
        try await Fixture.withService(respond: { _ in [.send("HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\n")] }) {
            service in
            let client = try Fixture.client()
            for _ in 0..<2 {
                let response = try await client.response(to: HTTPSRequest("HEAD", service.url()))
                #expect(response.body.isEmpty)
            }
            #expect(service.connections == 1)
        }
    }

    @Test func `a connection is read again after large bodies`() async throws {
        let respond: @Sendable (TestService.Received) -> [TestService.Step] = { request in
            let size = 60_000 + 2_500 * request.number
            return [Fixture.response(String(repeating: "x", count: size))]
        }
        try await Fixture.withService(respond: respond) { service in
            let client = try Fixture.client()
            for number in 0..<40 {
                #expect(try await client.get(service.url()).body.count == 60_000 + 2_500 * number)
            }
            #expect(service.connections == 1)
        }
    }
}
