// SPDX-License-Identifier: Apache-2.0

import Bytes
import HTTPLimits
import NIOCore
import SeededRandom
import Testing

@testable import HTTPServer

@Suite struct HeadParserTests {
    /// Parses a complete head, without an empty line before the head.
    private func parsed(
        _ text: String,
        _ limits: HTTPLimits = HTTPLimits()
    ) -> Result<RequestHead.Summary, RequestFault> {
        var fields: [RequestHead.Field] = []
        let text = text.hasPrefix("\r\nG") ? String(text.dropFirst(1)) : text
        return Result { () throws(RequestFault) in
            try HeadParser(limits: limits).parse(Array(text.utf8).span, into: &fields)
        }
    }

    @Test(arguments: RequestHeadCases.all.indices)
    func `a request that two programs might read differently is refused, and the connection ends`(index: Int) throws {
        let (request, status) = RequestHeadCases.all[index]
        let connection = try EmbeddedConnection()
        defer { connection.end() }
        connection.receive(request)
        let response = try #require(try connection.responses.first, "\(request.debugDescription)")
        #expect(response.status == status, "\(request.debugDescription): \(response.body)")
        #expect(status == 200 || !connection.isOpen)
        guard status != 200 else { return }
        // Bytes after the rejected request are not read.
        connection.receive("GET /next HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try connection.responses.count == 1)
    }

    @Test func `the length of the body and the end of the connection are read from the fields`() throws {
        let summary = try parsed(
            "POST /x?y HTTP/1.1\r\nHost: a:1\r\nContent-Length: 12\r\nExpect: 100-continue\r\n\r\n"
        )
        .get()
        #expect(summary.method == .post)
        #expect(summary.version == .http11)
        #expect(summary.body == .length(12))
        #expect(summary.isKeptAlive)
        #expect(summary.expectsContinue)
        #expect(try parsed("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n").get().body == .chunked)
        #expect(try parsed("GET / HTTP/1.1\r\nHost: a\r\n\r\n").get().body == .none)
    }

    @Test(
        arguments: [
            ("1.1", "", true), ("1.1", "close", false), ("1.1", "Close", false), ("1.1", "x, close ,y", false),
            ("1.1", "keep-alive, close", false), ("1.1", "closed", true), ("1.1", "\"close\"", true),
            ("1.0", "", false), ("1.0", "keep-alive", true), ("1.0", "KEEP-ALIVE", true), ("1.0", "x,keep-alive", true),
            ("1.0", "keep-alive, close", false), ("1.0", "keepalive", false),
        ]
    )
    func `version and Connection field determine if another request may follow`(
        version: String,
        option: String,
        isKeptAlive: Bool
    ) throws {
        let summary = try parsed("GET / HTTP/\(version)\r\nHost: a\r\nConnection: \(option)\r\n\r\n").get()
        #expect(summary.isKeptAlive == isKeptAlive)
    }

    @Test func `an HTTP/1.0 client gets no 100 response`() throws {
        #expect(try !parsed("GET / HTTP/1.0\r\nExpect: 100-continue\r\n\r\n").get().expectsContinue)
    }

    @Test func `a token consists of the characters of RFC 9110`() {
        let punctuation = Set("!#$%&'*+-.^_`|~".utf8)
        for byte in UInt8.min ... .max {
            let scalar = UnicodeScalar(byte)
            let isToken = byte < 128 && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
            #expect(ASCII.isToken(byte) == (isToken || punctuation.contains(byte)), "\(byte)")
        }
    }

    // MARK: - Limits

    /// Returns a request with a part of a given length.
    private static func request(line: Int = 0, field: Int = 0, count: Int = 1, total: Int = 0) -> String {
        let start = "GET / HTTP/1.1"
        var text = "GET /" + String(repeating: "a", count: max(0, line - start.utf8.count)) + " HTTP/1.1\r\nHost: a\r\n"
        var count = count - 1
        if field > 0 {
            text += "X: " + String(repeating: "a", count: field - 3) + "\r\n"
            count -= 1
        }
        while count > 0 {
            text += "Y:\r\n"
            count -= 1
        }
        while text.utf8.count + 2 < total {
            let room = min(40, total - 2 - text.utf8.count)
            // The field must leave enough bytes for another field.
            let length = total - 2 - text.utf8.count - room < 5 && room < total - 2 - text.utf8.count ? room - 5 : room
            text += "Z:" + String(repeating: "a", count: length - 4) + "\r\n"
        }
        return text + "\r\n"
    }

    static let limits: [(request: String, status: Int)] = [
        (request(line: 64), 200), (request(line: 65), 414), (request(line: 66), 414), (request(line: 67), 414),
        (request(line: 200), 414), (request(field: 48), 200), (request(field: 49), 431), (request(field: 50), 431),
        (request(field: 51), 431), (request(field: 120), 431), (request(count: 8), 200), (request(count: 9), 431),
        (request(total: 256), 200), (request(total: 257), 431), (request(total: 258), 431), (request(total: 320), 431),
    ]

    @Test(arguments: limits.indices, [1, 2, 3, 7, 1000])
    func `each limit is exact, however the bytes are split`(index: Int, size: Int) throws {
        let (request, status) = Self.limits[index]
        let connection = try EmbeddedConnection(.small)
        defer { connection.end() }
        var rest = Array(request.utf8)[...]
        while !rest.isEmpty {
            connection.receive(rest.prefix(size))
            rest = rest.dropFirst(size)
        }
        #expect(try connection.statuses == [status], "\(request.debugDescription)")
    }

    @Test func `an unfinished header is refused as soon as it is too long`() throws {
        for (start, limit, status) in [("GET /", 64, 414), ("GET / HTTP/1.1\r\nX: ", 48 + 16, 431)] {
            let connection = try EmbeddedConnection(.small)
            defer { connection.end() }
            connection.receive(start)
            var count = start.utf8.count
            while try connection.responses.isEmpty, count < 1000 {
                connection.receive("a")
                count += 1
            }
            #expect(try connection.statuses == [status])
            #expect(count == limit + 2)
        }
    }

    @Test func `the result does not depend on how the bytes are split`() throws {
        var numbers = Random(seed: 1)
        let cases = RequestHeadCases.all.filter { $0.request.utf8.count < 400 } + Self.limits
        for (request, _) in cases {
            let bytes = Array((request + "GET /next HTTP/1.1\r\nHost: a\r\n\r\n").utf8)
            let whole = try EmbeddedConnection(.small)
            defer { whole.end() }
            whole.receive(bytes)
            for size in [1, 2, 5, 40] {
                let cut = try EmbeddedConnection(.small)
                defer { cut.end() }
                for piece in numbers.pieces(bytes, atMost: size) { cut.receive(piece) }
                #expect(cut.text == whole.text, "\(request.debugDescription)")
                #expect(cut.isOpen == whole.isOpen)
            }
        }
    }
}
