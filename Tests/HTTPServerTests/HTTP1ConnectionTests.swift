// SPDX-License-Identifier: Apache-2.0

import HTTPLimits
import HTTPTypes
import NIOCore
import NIOEmbedded
import Testing

@testable import HTTPServer

/// Connections whose requests are answered on the event loop.
@Suite struct HTTP1ConnectionTests {
    private static let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

    @Test func `requests in one read are answered in order and in one write`() throws {
        let connection = try EmbeddedConnection()
        defer { connection.end() }
        let flushes = connection.network.flushCount
        connection.receive((0..<20).map { "GET /\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined())
        #expect(try connection.responses.map(\.body) == (0..<20).map { "GET /\($0)" })
        #expect(connection.network.flushCount == flushes + 1)
        #expect(connection.isOpen)
    }

    @Test func `a response has Date and Content-Length, and no Connection field if the connection stays open`() throws {
        let connection = try EmbeddedConnection()
        defer { connection.end() }
        connection.receive(Self.get)
        let response = try #require(try connection.responses.first)
        #expect(
            response.fields == ["content-length": "5", "date": "Sun, 06 Nov 1994 08:49:37 GMT"]
        )
    }

    @Test func `HEAD is answered with the length of GET and no body`() throws {
        let connection = try EmbeddedConnection()
        defer { connection.end() }
        connection.receive("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n" + Self.get)
        let responses = try ParsedResponse.all(in: connection.network.readByClient, methods: ["HEAD", "GET"])
        #expect(responses.map(\.body) == ["", "GET /"])
        #expect(responses[0].fields["content-length"] == "6")
    }

    @Test(
        arguments: [
            ("GET / HTTP/1.0\r\n\r\n", "close", false),
            ("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "keep-alive", true),
            ("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "close", false),
            ("GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n", "close", false),
        ]
    )
    func `version and Connection field determine if the connection stays open`(
        request: String,
        option: String,
        staysOpen: Bool
    ) throws {
        let connection = try EmbeddedConnection()
        defer { connection.end() }
        connection.receive(request + Self.get)
        let responses = try connection.responses
        #expect(responses.first?.fields["connection"] == option)
        #expect(responses.count == (staysOpen ? 2 : 1))
        #expect(connection.isOpen == staysOpen)
    }

    @Test func `a body that no handler reads is skipped, and the request after it is answered`() throws {
        let connection = try EmbeddedConnection()
        defer { connection.end() }
        connection.receive("POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello" + Self.get)
        connection.receive("POST /2 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nGET /")
        connection.receive("\r\n0\r\n\r\n" + Self.get)
        #expect(try connection.responses.map(\.body) == ["POST /1", "GET /", "POST /2", "GET /"])
    }

    @Test func `a Content-Length one byte over the limit is refused before the body arrives`() throws {
        for (length, status) in [(64, 200), (65, 413), (999_999_999_999, 413)] {
            let connection = try EmbeddedConnection(.small)
            defer { connection.end() }
            connection.receive("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(length)\r\n\r\n")
            #expect(try connection.statuses == [status])
            #expect(connection.isOpen == (status == 200))
        }
    }

    @Test(arguments: ["5\r\nhelloX", "zz\r\n", "FFFF\r\nx"])
    func `a malformed body that follows the response causes no second response`(body: String) throws {
        let connection = try EmbeddedConnection(.small)
        defer { connection.end() }
        connection.receive("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        #expect(try connection.statuses == [200])
        connection.receive(body)
        #expect(try connection.statuses == [200])
        #expect(!connection.isOpen)
        connection.receive(Self.get)
        #expect(try connection.statuses == [200])
    }

    @Test func `a response instead of 100 Continue closes the connection`() throws {
        let connection = try EmbeddedConnection()
        defer { connection.end() }
        connection.receive("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
        #expect(try connection.responses.map(\.fields["connection"]) == ["close"])
        #expect(!connection.isOpen)
        connection.receive("GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try connection.statuses == [200])
    }

    @Test func `a request with 100-continue and without a body gets no 100 response`() throws {
        let connection = try EmbeddedConnection()
        defer { connection.end() }
        connection.receive("GET / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n" + Self.get)
        #expect(try connection.statuses == [200, 200])
    }

    // MARK: - Clients that do not read

    @Test func `the server stops reading from a client that sends requests and reads no responses`() throws {
        let connection = try EmbeddedConnection(
            HTTPLimits(),
            ScriptedResponder { _, _ in .immediate(.text(String(repeating: "x", count: 1000))) }
        )
        defer { connection.end() }
        connection.network.isClientReading = false
        let flood = String(repeating: Self.get, count: 1000)
        connection.receive(flood)
        let reads = connection.network.readCount
        connection.receive(flood)
        #expect(connection.network.readCount == reads, "the server has read more data from the client")
        #expect(connection.network.maximumWaitingCount < 3 * 65_536)
        connection.network.isClientReading = true
        connection.network.clientReads()
        connection.eventLoop.run()
        #expect(try connection.responses.count == 2000)
        #expect(connection.network.readCount > reads)
    }

    @Test func `requests that arrive while responses are sent are answered`() throws {
        // The client reads while the server sends, so the server handles the next requests during a flush.
        let connection = try EmbeddedConnection(
            HTTPLimits(),
            ScriptedResponder { _, _ in .immediate(.text(String(repeating: "x", count: 30_000))) }
        )
        defer { connection.end() }
        connection.network.isClientReading = false
        connection.receive(String(repeating: Self.get, count: 3))
        connection.base.receive(String(repeating: Self.get, count: 8))
        connection.network.isClientReading = true
        connection.eventLoop.run()
        for _ in 0..<20 {
            connection.network.clientReads()
            connection.eventLoop.run()
        }
        #expect(try connection.responses.count == 11)
        connection.receive(Self.get)
        #expect(try connection.responses.count == 12)
    }

    @Test func `responses that are written during a flush are sent`() throws {
        let responder = ScriptedResponder { _, target in
            .immediate(.text(String(repeating: "x", count: target == "/large" ? 60_000 : 10_000)))
        }
        let connection = try EmbeddedConnection(HTTPLimits(), responder)
        defer { connection.end() }
        connection.network.isClientReading = false
        connection.receive("GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
        // The response to the first request fills the buffer. The second request is read when the flush has made space.
        connection.base.receive(Self.get)
        connection.base.receive(Self.get)
        connection.network.isClientReading = true
        connection.eventLoop.run()
        #expect(try connection.responses.count == 3)
    }

    @Test func `the input buffer stays small when no read ends with a complete request`() throws {
        let connection = try EmbeddedConnection()
        defer { connection.end() }
        let request = Array("GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "x", count: 4000))\r\n\r\n".utf8)
        connection.receive(request.prefix(1))
        for _ in 0..<500 { connection.receive(request.dropFirst() + request.prefix(1)) }
        let handler = try #require(connection.base.handler)
        #expect(handler.input.readableBytes == 1)
        #expect(handler.input.capacity < 65_536, "\(handler.input.capacity)")
    }

    // MARK: - Ends

    @Test func `a response that the client has not read yet is not lost when the connection ends`() throws {
        for end in ["half-close", "drain", "idle"] {
            var limits = HTTPLimits()
            limits.idleTime = .seconds(5)
            limits.writeTime = .seconds(100)
            let connection = try EmbeddedConnection(
                limits,
                ScriptedResponder { _, _ in .immediate(.text(String(repeating: "x", count: 10_000))) }
            )
            defer { connection.end() }
            connection.network.isClientReading = false
            connection.receive(Self.get)
            switch end {
            case "half-close": connection.base.endInput()
            case "drain": connection.base.loopState.drain()
            default: connection.advance(.seconds(6))
            }
            connection.eventLoop.run()
            connection.network.isClientReading = true
            connection.network.clientReads()
            connection.eventLoop.run()
            #expect(try connection.responses.first?.body.count == 10_000, "\(end)")
            #expect(!connection.isOpen, "\(end)")
        }
    }

    @Test func `a connection that closes during a flush is closed only once`() throws {
        let responder = ScriptedResponder { _, target in
            .immediate(.text(String(repeating: "x", count: target == "/large" ? 60_000 : 10_000)))
        }
        for (last, count) in [("GET / HTTP/1.0\r\n\r\n", 1), ("", 0)] {
            let connection = try EmbeddedConnection(HTTPLimits(), responder)
            defer { connection.end() }
            connection.network.isClientReading = false
            connection.receive("GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
            connection.base.receive(last.isEmpty ? Self.get : last)
            connection.network.isClientReading = true
            // The flush frees buffer space, so the connection continues during the flush.
            if last.isEmpty { connection.base.endInput() } else { connection.network.clientReads() }
            connection.eventLoop.run()
            #expect(try connection.responses.count == 2)
            #expect(connection.network.outputCloseCount == count)
            #expect(!connection.isOpen)
            if count > 0 { connection.advance(.seconds(6)) }
            #expect(connection.network.isClosed)
            #expect(connection.base.endCount == 1)
        }
    }

    @Test func `a client that half-closes gets a response only if its request is complete`() throws {
        for (request, count) in [("", 0), ("GET / HT", 0), (Self.get, 1), (Self.get + "GET", 1)] {
            let connection = try EmbeddedConnection()
            defer { connection.end() }
            connection.receive(request)
            connection.base.endInput()
            connection.eventLoop.run()
            #expect(try connection.responses.count == count)
            #expect(connection.network.isClosed)
            #expect(connection.base.endCount == 1)
        }
    }

    @Test func `requests that wait for buffer space are answered after the client has half-closed`() throws {
        let connection = try EmbeddedConnection(
            HTTPLimits(),
            ScriptedResponder { _, _ in .immediate(.text(String(repeating: "x", count: 30_000))) }
        )
        defer { connection.end() }
        connection.network.isClientReading = false
        connection.receive(String(repeating: Self.get, count: 10))
        connection.base.endInput()
        connection.eventLoop.run()
        connection.network.isClientReading = true
        for _ in 0..<20 {
            connection.network.clientReads()
            connection.eventLoop.run()
        }
        #expect(try connection.responses.count == 10)
        #expect(connection.network.isClosed)
    }

    @Test func `a connection ends exactly once and is released, however it ends`() throws {
        let ways: [(String, (EmbeddedConnection) -> Void)] = [
            ("drop", { $0.base.disconnect() }),
            (
                "drop twice",
                {
                    $0.base.disconnect(); $0.base.disconnect()
                }
            ),
            ("abort", { $0.base.handler?.abort() }), ("close all", { $0.base.loopState.closeAll() }),
            ("drain", { $0.base.loopState.drain() }), ("half-close", { $0.base.endInput() }),
            ("error", { $0.base.channel.pipeline.fireErrorCaught(ChannelError.inputClosed) }),
            (
                "malformed",
                {
                    $0.receive("x\r\n\r\n"); $0.base.endInput()
                }
            ),
            (
                "malformed and silent",
                {
                    $0.receive("x\r\n\r\n"); $0.advance(.seconds(100))
                }
            ),
            (
                "close",
                {
                    $0.receive("GET / HTTP/1.0\r\n\r\n"); $0.base.disconnect()
                }
            ), ("idle", { $0.advance(.seconds(100)) }),
            (
                "lost within a flush",
                { connection in
                    connection.network.onFlush = { $0.close(promise: nil) }
                    connection.receive(Self.get + Self.get)
                    connection.receive(Self.get)
                }
            ),
            (
                "lost within a large flush",
                { connection in
                    connection.network.onFlush = { $0.close(promise: nil) }
                    connection.receive(
                        String(
                            repeating: "GET /\(String(repeating: "x", count: 8000)) HTTP/1.1\r\nHost: a\r\n\r\n",
                            count: 12
                        )
                    )
                }
            ),
        ]
        for (name, way) in ways {
            let connection = try EmbeddedConnection()
            way(connection)
            connection.eventLoop.run()
            connection.end()
            connection.eventLoop.run()
            #expect(connection.base.endCount == 1, "\(name)")
            #expect(connection.base.handler == nil, "\(name): the connection is still retained")
        }
    }

    // MARK: - Drain

    @Test(arguments: ["", "GET / HT", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhe"])
    func `a server that stops closes idle connections and finishes requests in progress`(begun: String) throws {
        let connection = try EmbeddedConnection()
        defer { connection.end() }
        connection.receive(begun)
        connection.base.loopState.drain()
        connection.eventLoop.run()
        #expect(connection.isOpen == !begun.isEmpty)
        if begun.hasPrefix("GET") {
            connection.receive("TP/1.1\r\nHost: a\r\n\r\n")
            #expect(try connection.responses.first?.fields["connection"] == "close")
        } else if begun.hasPrefix("POST") {
            connection.receive("llo")
            #expect(try connection.responses.count == 1)
        }
        #expect(!connection.isOpen)
    }

    @Test func `a connection whose handshake ends after the server has stopped is closed`() throws {
        let connection = try EmbeddedConnection()
        defer { connection.end() }
        connection.base.loopState.drain()
        let late = try EmbeddedConnection(connection.eventLoop, connection.base.loopState, isHandshaken: false)
        late.base.completeHandshake()
        connection.eventLoop.run()
        #expect(!late.isOpen)
    }

    // MARK: - Neighbours

    @Test func `connections of one event loop do not mix their bytes`() throws {
        let first = try EmbeddedConnection()
        defer { first.end() }
        let others = try (0..<3).map { _ in try EmbeddedConnection(first.eventLoop, first.base.loopState) }
        defer { others.forEach { $0.base.disconnect() } }
        for round in 0..<5 {
            for (index, connection) in others.enumerated() {
                connection.base.receive("GET /\(index)/\(round) HTTP/1.1\r\nHost: a\r\n\r\n")
            }
        }
        first.eventLoop.run()
        for (index, connection) in others.enumerated() {
            #expect(try connection.responses.map(\.body) == (0..<5).map { "GET /\(index)/\($0)" })
        }
    }
}
