// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import HTTPLimits
import HTTPTypes
import NIOCore
import NIOEmbedded
import Testing

@testable import HTTPServer

/// Connections whose requests are answered on the event loop.
@Suite struct ConnectionTests {
    private static let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

    @Test func `requests in one read are answered in order and in one write`() throws {
        let line = try EmbeddedLine()
        defer { line.end() }
        let flushes = line.wire.flushCount
        line.bring((0..<20).map { "GET /\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }.joined())
        #expect(try line.answers.map(\.body) == (0..<20).map { "GET /\($0)" })
        #expect(line.wire.flushCount == flushes + 1)
        #expect(line.isOpen)
    }

    @Test func `a response has Date and Content-Length, and no Connection field if the connection stays open`() throws {
        let line = try EmbeddedLine()
        defer { line.end() }
        line.bring(Self.get)
        let answer = try #require(try line.answers.first)
        #expect(
            answer.fields == ["content-length": "5", "date": "Sun, 06 Nov 1994 08:49:37 GMT"]
        )
    }

    @Test func `HEAD is answered with the length of GET and no body`() throws {
        let line = try EmbeddedLine()
        defer { line.end() }
        line.bring("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n" + Self.get)
        let answers = try Answer.all(in: line.wire.taken, methods: ["HEAD", "GET"])
        #expect(answers.map(\.body) == ["", "GET /"])
        #expect(answers[0].fields["content-length"] == "6")
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
        let line = try EmbeddedLine()
        defer { line.end() }
        line.bring(request + Self.get)
        let answers = try line.answers
        #expect(answers.first?.fields["connection"] == option)
        #expect(answers.count == (staysOpen ? 2 : 1))
        #expect(line.isOpen == staysOpen)
    }

    @Test func `a body that no handler reads is skipped, and the request after it is answered`() throws {
        let line = try EmbeddedLine()
        defer { line.end() }
        line.bring("POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello" + Self.get)
        line.bring("POST /2 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nGET /")
        line.bring("\r\n0\r\n\r\n" + Self.get)
        #expect(try line.answers.map(\.body) == ["POST /1", "GET /", "POST /2", "GET /"])
    }

    @Test func `a Content-Length one byte over the limit is refused before the body arrives`() throws {
        for (length, status) in [(64, 200), (65, 413), (999_999_999_999, 413)] {
            let line = try EmbeddedLine(.small)
            defer { line.end() }
            line.bring("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(length)\r\n\r\n")
            #expect(try line.statuses == [status])
            #expect(line.isOpen == (status == 200))
        }
    }

    @Test(arguments: ["5\r\nhelloX", "zz\r\n", "FFFF\r\nx"])
    func `a malformed body that follows the response causes no second response`(body: String) throws {
        let line = try EmbeddedLine(.small)
        defer { line.end() }
        line.bring("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        #expect(try line.statuses == [200])
        line.bring(body)
        #expect(try line.statuses == [200])
        #expect(!line.isOpen)
        line.bring(Self.get)
        #expect(try line.statuses == [200])
    }

    @Test func `a response instead of 100 Continue closes the connection`() throws {
        let line = try EmbeddedLine()
        defer { line.end() }
        line.bring("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
        #expect(try line.answers.map(\.fields["connection"]) == ["close"])
        #expect(!line.isOpen)
        line.bring("GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try line.statuses == [200])
    }

    @Test func `a request with 100-continue and without a body gets no 100 response`() throws {
        let line = try EmbeddedLine()
        defer { line.end() }
        line.bring("GET / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n" + Self.get)
        #expect(try line.statuses == [200, 200])
    }

    // MARK: - Clients that do not read

    @Test func `the server stops reading from a client that sends requests and reads no responses`() throws {
        let line = try EmbeddedLine(
            HTTPLimits(),
            Scripted { _, _ in .immediate(.text(String(repeating: "x", count: 1000))) }
        )
        defer { line.end() }
        line.wire.isTaking = false
        let flood = String(repeating: Self.get, count: 1000)
        line.bring(flood)
        let reads = line.wire.readCount
        line.bring(flood)
        #expect(line.wire.readCount == reads, "nothing more is read")
        #expect(line.wire.most < 3 * 65_536)
        line.wire.isTaking = true
        line.wire.take()
        line.eventLoop.run()
        #expect(try line.answers.count == 2000)
        #expect(line.wire.readCount > reads)
    }

    @Test func `requests that arrive while responses are sent are answered`() throws {
        // The client reads while the server sends, so the server handles the next requests during a flush.
        let line = try EmbeddedLine(
            HTTPLimits(),
            Scripted { _, _ in .immediate(.text(String(repeating: "x", count: 30_000))) }
        )
        defer { line.end() }
        line.wire.isTaking = false
        line.bring(String(repeating: Self.get, count: 3))
        line.line.bring(String(repeating: Self.get, count: 8))
        line.wire.isTaking = true
        line.eventLoop.run()
        for _ in 0..<20 {
            line.wire.take()
            line.eventLoop.run()
        }
        #expect(try line.answers.count == 11)
        line.bring(Self.get)
        #expect(try line.answers.count == 12)
    }

    @Test func `responses that are written during a flush are sent`() throws {
        let responder = Scripted { _, target in
            .immediate(.text(String(repeating: "x", count: target == "/large" ? 60_000 : 10_000)))
        }
        let line = try EmbeddedLine(HTTPLimits(), responder)
        defer { line.end() }
        line.wire.isTaking = false
        line.bring("GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
        // The response to the first request fills the buffer. The second request is read when the flush has made space.
        line.line.bring(Self.get)
        line.line.bring(Self.get)
        line.wire.isTaking = true
        line.eventLoop.run()
        #expect(try line.answers.count == 3)
    }

    @Test func `the input buffer stays small when no read ends with a complete request`() throws {
        let line = try EmbeddedLine()
        defer { line.end() }
        let request = Array("GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "x", count: 4000))\r\n\r\n".utf8)
        line.bring(request.prefix(1))
        for _ in 0..<500 { line.bring(request.dropFirst() + request.prefix(1)) }
        let handler = try #require(line.line.handler)
        #expect(handler.input.readableBytes == 1)
        #expect(handler.input.capacity < 65_536, "\(handler.input.capacity)")
    }

    // MARK: - Ends

    @Test func `a response that the client has not read yet is not lost when the connection ends`() throws {
        for end in ["half-close", "drain", "idle"] {
            var limits = HTTPLimits()
            limits.idleTime = .seconds(5)
            limits.writeTime = .seconds(100)
            let line = try EmbeddedLine(
                limits,
                Scripted { _, _ in .immediate(.text(String(repeating: "x", count: 10_000))) }
            )
            defer { line.end() }
            line.wire.isTaking = false
            line.bring(Self.get)
            switch end {
            case "half-close": line.line.endInput()
            case "drain": line.line.connections.drain()
            default: line.advance(.seconds(6))
            }
            line.eventLoop.run()
            line.wire.isTaking = true
            line.wire.take()
            line.eventLoop.run()
            #expect(try line.answers.first?.body.count == 10_000, "\(end)")
            #expect(!line.isOpen, "\(end)")
        }
    }

    @Test func `a connection that closes during a flush is closed only once`() throws {
        let responder = Scripted { _, target in
            .immediate(.text(String(repeating: "x", count: target == "/large" ? 60_000 : 10_000)))
        }
        for (last, count) in [("GET / HTTP/1.0\r\n\r\n", 1), ("", 0)] {
            let line = try EmbeddedLine(HTTPLimits(), responder)
            defer { line.end() }
            line.wire.isTaking = false
            line.bring("GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
            line.line.bring(last.isEmpty ? Self.get : last)
            line.wire.isTaking = true
            // The flush frees buffer space, so the connection continues during the flush.
            if last.isEmpty { line.line.endInput() } else { line.wire.take() }
            line.eventLoop.run()
            #expect(try line.answers.count == 2)
            #expect(line.wire.outputCloseCount == count)
            #expect(!line.isOpen)
            if count > 0 { line.advance(.seconds(6)) }
            #expect(line.wire.isClosed)
            #expect(line.line.ends == 1)
        }
    }

    @Test func `a client that half-closes gets a response only if its request is complete`() throws {
        for (request, count) in [("", 0), ("GET / HT", 0), (Self.get, 1), (Self.get + "GET", 1)] {
            let line = try EmbeddedLine()
            defer { line.end() }
            line.bring(request)
            line.line.endInput()
            line.eventLoop.run()
            #expect(try line.answers.count == count)
            #expect(line.wire.isClosed)
            #expect(line.line.ends == 1)
        }
    }

    @Test func `requests that wait for buffer space are answered after the client has half-closed`() throws {
        let line = try EmbeddedLine(
            HTTPLimits(),
            Scripted { _, _ in .immediate(.text(String(repeating: "x", count: 30_000))) }
        )
        defer { line.end() }
        line.wire.isTaking = false
        line.bring(String(repeating: Self.get, count: 10))
        line.line.endInput()
        line.eventLoop.run()
        line.wire.isTaking = true
        for _ in 0..<20 {
            line.wire.take()
            line.eventLoop.run()
        }
        #expect(try line.answers.count == 10)
        #expect(line.wire.isClosed)
    }

    @Test func `every way of ending a connection ends it only once and releases it`() throws {
        let ways: [(String, (EmbeddedLine) -> Void)] = [
            ("drop", { $0.line.drop() }),
            (
                "drop twice",
                {
                    $0.line.drop(); $0.line.drop()
                }
            ),
            ("abort", { $0.line.handler?.abort() }), ("close all", { $0.line.connections.closeAll() }),
            ("drain", { $0.line.connections.drain() }), ("half-close", { $0.line.endInput() }),
            ("error", { $0.line.channel.pipeline.fireErrorCaught(ChannelError.inputClosed) }),
            (
                "malformed",
                {
                    $0.bring("x\r\n\r\n"); $0.line.endInput()
                }
            ),
            (
                "malformed and silent",
                {
                    $0.bring("x\r\n\r\n"); $0.advance(.seconds(100))
                }
            ),
            (
                "close",
                {
                    $0.bring("GET / HTTP/1.0\r\n\r\n"); $0.line.drop()
                }
            ), ("idle", { $0.advance(.seconds(100)) }),
            (
                "lost within a flush",
                { line in
                    line.wire.onFlush = { $0.close(promise: nil) }
                    line.bring(Self.get + Self.get)
                    line.bring(Self.get)
                }
            ),
            (
                "lost within a large flush",
                { line in
                    line.wire.onFlush = { $0.close(promise: nil) }
                    line.bring(
                        String(
                            repeating: "GET /\(String(repeating: "x", count: 8000)) HTTP/1.1\r\nHost: a\r\n\r\n",
                            count: 12
                        )
                    )
                }
            ),
        ]
        for (name, way) in ways {
            let line = try EmbeddedLine()
            way(line)
            line.eventLoop.run()
            line.end()
            line.eventLoop.run()
            #expect(line.line.ends == 1, "\(name)")
            #expect(line.line.handler == nil, "\(name): the connection is still retained")
        }
    }

    // MARK: - Drain

    @Test(arguments: ["", "GET / HT", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhe"])
    func `a server that stops closes idle connections and finishes requests in progress`(begun: String) throws {
        let line = try EmbeddedLine()
        defer { line.end() }
        line.bring(begun)
        line.line.connections.drain()
        line.eventLoop.run()
        #expect(line.isOpen == !begun.isEmpty)
        if begun.hasPrefix("GET") {
            line.bring("TP/1.1\r\nHost: a\r\n\r\n")
            #expect(try line.answers.first?.fields["connection"] == "close")
        } else if begun.hasPrefix("POST") {
            line.bring("llo")
            #expect(try line.answers.count == 1)
        }
        #expect(!line.isOpen)
    }

    @Test func `a connection whose handshake ends after the server has stopped is closed`() throws {
        let line = try EmbeddedLine()
        defer { line.end() }
        line.line.connections.drain()
        let late = try EmbeddedLine(line.eventLoop, line.line.connections, isHandshaken: false)
        late.line.shakeHands()
        line.eventLoop.run()
        #expect(!late.isOpen)
    }

    // MARK: - Neighbours

    @Test func `connections of one event loop do not mix their bytes`() throws {
        let first = try EmbeddedLine()
        defer { first.end() }
        let others = try (0..<3).map { _ in try EmbeddedLine(first.eventLoop, first.line.connections) }
        defer { others.forEach { $0.line.drop() } }
        for round in 0..<5 {
            for (index, line) in others.enumerated() {
                line.line.bring("GET /\(index)/\(round) HTTP/1.1\r\nHost: a\r\n\r\n")
            }
        }
        first.eventLoop.run()
        for (index, line) in others.enumerated() {
            #expect(try line.answers.map(\.body) == (0..<5).map { "GET /\(index)/\($0)" })
        }
    }
}
