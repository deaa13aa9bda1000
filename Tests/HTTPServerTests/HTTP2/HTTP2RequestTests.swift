// SPDX-License-Identifier: Apache-2.0

import Bytes
import HTTPLimits
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHPACK
import Testing

@testable import HTTPServer

/// Requests over HTTP/2 and their responses.
struct HTTP2RequestTests {
    typealias Fields = [(String, String)]

    @Test
    func `a response is sent on the stream of its request, with date and content-length and without connection fields`()
        throws
    {
        let (client, _) = try EmbeddedChannel.client()
        let stream = try client.request()
        let fields = try #require(client.fields[stream]?.first)
        #expect(fields.first(name: ":status") == "200")
        #expect(fields.first(name: "content-length") == "5")
        #expect(fields.first(name: "date") == "Thu, 01 Jan 1970 00:00:00 GMT")
        #expect(!fields.contains(name: "connection"))
        #expect(client.body(stream) == "hello")
        #expect(client.hasEnded(stream))
        #expect(client.reset(stream) == nil && !client.isOver)
    }

    @Test func `the response to an HTTP/2 HEAD request has content-length and no body`() throws {
        let (client, _) = try EmbeddedChannel.client()
        let stream = try client.request([(":method", "HEAD")] + HTTP2Client.get().dropFirst())
        #expect(client.fields[stream]?.first?.first(name: "content-length") == "5")
        #expect(client.bodies[stream] == nil && client.hasEnded(stream))
    }

    @Test func `the responses to the requests of one read are sent with one flush`() throws {
        let (client, _) = try EmbeddedChannel.client()
        let frames = try (0..<20).map { _ in try client.headers(HTTP2Client.get()) }
        let before = client.network.flushCount
        client.send(frames)
        #expect(client.network.flushCount == before + 1)
        #expect(frames.allSatisfy { client.hasEnded($0.stream) })
    }

    @Test(arguments: ["Set-Cookie", "Remote-Token"])
    func `a field with a secret is never put into the compression table`(name: String) throws {
        var response = HTTPResponse(status: .ok)
        response.headerFields[try #require(HTTPField.Name(name))] = "secret"
        response.headerFields[.location] = "/"
        let fields = PreparedResponse(response, body: ByteBuffer()).fields
        #expect(fields.first { $0.name == name.lowercased() }?.indexable == .neverIndexed)
        #expect(fields.first { $0.name == "location" }?.indexable == .indexable)
    }

    /// Requests that RFC 9113 sections 8.2 and 8.3 forbid.
    static let malformed: [(String, Fields)] = [
        ("no method", Array(HTTP2Client.get().dropFirst())),
        ("no scheme", HTTP2Client.get().filter { $0.0 != ":scheme" }),
        ("no path", HTTP2Client.get().filter { $0.0 != ":path" }),
        ("an empty path", HTTP2Client.get("")),
        ("two methods", [(":method", "GET")] + HTTP2Client.get()),
        ("two paths", HTTP2Client.get("/", [(":path", "/other")])),
        ("an empty authority", HTTP2Client.get().dropLast() + [(":authority", "")]),
        ("an unknown pseudo-field", HTTP2Client.get("/", [(":protocol", "websocket")])),
        ("a pseudo-field of responses", HTTP2Client.get("/", [(":status", "200")])),
        ("a pseudo-field after a field", [("accept", "*/*")] + HTTP2Client.get()),
        ("a late pseudo-field", HTTP2Client.get().dropLast() + [("accept", "*/*"), (":authority", "localhost")]),
        ("an upper case name", HTTP2Client.get("/", [("X-Upper", "*/*")])),
        ("a blank in a name", HTTP2Client.get("/", [("a b", "x")])),
        ("a colon in a name", HTTP2Client.get("/", [("a:b", "x")])),
        ("a line feed in a value", HTTP2Client.get("/", [("a", "x\nb: y")])),
        ("a carriage return in a value", HTTP2Client.get("/", [("a", "x\rb")])),
        ("a NUL in a value", HTTP2Client.get("/", [("a", "x\0")])),
        ("connection", HTTP2Client.get("/", [("connection", "close")])),
        ("keep-alive", HTTP2Client.get("/", [("keep-alive", "1")])),
        ("proxy-connection", HTTP2Client.get("/", [("proxy-connection", "close")])),
        ("transfer-encoding", HTTP2Client.get("/", [("transfer-encoding", "chunked")])),
        ("upgrade", HTTP2Client.get("/", [("upgrade", "h2c")])),
        ("te that is not trailers", HTTP2Client.get("/", [("te", "gzip")])),
        ("a length without a body", HTTP2Client.get("/", [("content-length", "1")])),
        ("a blank in the path", HTTP2Client.get("/a b")),
        ("a line end in the path", HTTP2Client.get("/ HTTP/1.1\r\nhost: x")),
        ("a byte that is not ASCII in the path", HTTP2Client.get("/\u{e4}")),
        ("a path without a slash", HTTP2Client.get("a")),
        ("a URL instead of a path", HTTP2Client.get("https://localhost/")),
        ("* of GET", HTTP2Client.get("*")),
        ("a blank in the method", [(":method", "GE T")] + HTTP2Client.get().dropFirst()),
    ]

    @Test(arguments: malformed)
    func `a request that HTTP/2 forbids resets its stream without calling the responder`(
        what: String,
        fields: Fields
    ) throws {
        let (client, _) = try EmbeddedChannel.client()
        let stream = try client.request(fields)
        #expect(client.reset(stream) == 1, "\(what): \(client.frames)")
        #expect(client.fields[stream] == nil)
        let next = try client.request()
        #expect(client.status(next) == "200", "the connection stays open")
    }

    @Test func `a field without a name ends the connection`() throws {
        let (client, _) = try EmbeddedChannel.client()
        try client.request(HTTP2Client.get("/", [("", "x")]))
        #expect(client.isOver && client.fields.isEmpty)
    }

    static let refused: [(String, Fields)] = [
        ("400", [(":method", "CONNECT"), (":authority", "localhost:443")]),
        ("400", HTTP2Client.get("/#top")),
        ("400", HTTP2Client.get().filter { $0.0 != ":authority" }),
        ("400", HTTP2Client.get("/", [("host", "other")])),
        ("400", HTTP2Client.get("/", [("host", "localhost"), ("host", "localhost")])),
        ("400", HTTP2Client.get().dropLast() + [("host", "a"), ("host", "a")]),
        ("400", HTTP2Client.get().dropLast() + [(":authority", "user@localhost")]),
        ("400", HTTP2Client.get().map { $0.0 == ":scheme" ? ($0.0, "http") : $0 }),
        ("400", HTTP2Client.get("/", [("content-length", "x")])),
        ("400", HTTP2Client.get("/", [("content-length", "+0")])),
        ("400", HTTP2Client.get("/", [("content-length", "0"), ("content-length", "0")])),
        ("400", HTTP2Client.get("/", [("a", " x")])),
        ("400", HTTP2Client.get("/", [("a", "x\t")])),
        ("400", HTTP2Client.get("/", [("a", "\u{7f}")])),
        ("417", HTTP2Client.get("/", [("expect", "miracles")])),
        ("414", HTTP2Client.get("/" + String(repeating: "a", count: 8192))),
        ("431", HTTP2Client.get("/", [("a", String(repeating: "a", count: 16_384))])),
        ("431", HTTP2Client.get("/", [("cookie", "a=" + String(repeating: "a", count: 40_000))])),
        ("431", HTTP2Client.get("/", (0..<12).map { ("cookie", "a\($0)=" + String(repeating: "a", count: 4000)) })),
        ("431", HTTP2Client.get("/", (0..<15).map { ("a\($0)", String(repeating: "a", count: 16_000)) })),
        ("431", HTTP2Client.get("/", (0..<100).map { ("a\($0)", "x") })),
        ("431", HTTP2Client.get("/", (0..<5).map { ("a\($0)", String(repeating: "a", count: 7000)) })),
    ]

    @Test(arguments: refused)
    func `requests that HTTP/1 refuses get the same status over HTTP/2`(status: String, fields: Fields) throws {
        let (client, _) = try EmbeddedChannel.client()
        let block = try client.block(fields)
        var rest = block
        var frames: [Frame] = []
        while let part = rest.readSlice(length: min(16_384, rest.readableBytes)), part.readableBytes > 0 {
            frames.append(Frame(frames.isEmpty ? .headers : .continuation, flags: frames.isEmpty ? 1 : 0, 1, part))
        }
        frames[frames.count - 1].flags |= 4
        client.send(frames)
        #expect(client.status(1) == status, "\(client.frames) \(client.body(1))")
        #expect(client.hasEnded(1) && !client.isOver)
    }

    @Test func `Host may replace or repeat the authority`() throws {
        let (client, _) = try EmbeddedChannel.client()
        let first = try client.request(HTTP2Client.get().dropLast() + [("host", "localhost")])
        let second = try client.request(HTTP2Client.get("/", [("host", "LOCALHOST"), ("te", "trailers")]))
        #expect(client.status(first) == "200" && client.status(second) == "200")
    }

    @Test func `the request has the same head as in HTTP/1`() throws {
        let limits = HTTPLimits()
        var fields: [RequestHead.Field] = []
        let block = HPACKHeaders(
            HTTP2Client.post("/a?b", [("cookie", "a=1"), ("authorization", "Basic eA=="), ("cookie", "b=2")])
        )
        let head = try HTTP2HeadReader.read(block, endsStream: false, limits: limits, into: &fields)
        #expect(
            String(buffer: head.bytes)
                == "POST /a?b HTTP/2\r\nhost: localhost\r\nauthorization: Basic eA==\r\ncookie: a=1; b=2\r\n"
        )
        #expect(head.method == .post && head.version == .http2 && head.host == "localhost" && head.target == "/a?b")
        #expect(head.values(of: .cookie) == ["a=1; b=2"] && head.values(of: .authorization) == ["Basic eA=="])
        #expect(head.summary.body == .chunked)
        // Authorization and Cookie are left out.
        #expect(head.host == "localhost" && head.headerFields.isEmpty)
    }

    @Test func `a client that sends many malformed requests is disconnected`() throws {
        let (client, _) = try EmbeddedChannel.client()
        for _ in 0..<40 where !client.isOver { try client.request(HTTP2Client.get("")) }
        #expect(client.goAway == 11 && client.isOver && client.frames.count { $0.kind == 3 } <= 33)
    }

    @Test func `a request that is answered before its body arrives is reset without an error`() throws {
        let (client, _) = try EmbeddedChannel.client(HTTPLimits(), "hello")
        let exact = try client.request(HTTP2Client.post("/", [("content-length", "3")]), ends: false)
        #expect(client.status(exact) == "200")
        // The request was answered before its body arrived, so the body is not needed.
        #expect(client.reset(exact) == 0)
        client.data(exact, 3, ends: true)
        #expect(!client.isOver)
    }

    @Test func `a body whose content-length is too long is refused at once`() throws {
        let (client, _) = try EmbeddedChannel.client()
        let stream = try client.request(HTTP2Client.post("/", [("content-length", "65537")]), ends: false)
        #expect(client.status(stream) == "413" && client.hasEnded(stream) && client.reset(stream) == 0)
    }
}
