// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import TestTools
import Testing

@testable import HTTPServer

/// The time to process a client's text is linear in the length of the text, even if NIOHTTP2 passes a `String`.
///
/// `TextCostTests` of GatehouseTests tests HTTP/1 and the code after the parser.
@Suite struct HTTP2TextCostTests {
    typealias Fields = [(String, String)]

    /// The parts of a request that contain text of the client.
    static let places: [(String, @Sendable (String) -> Fields)] = [
        ("the name of a field", { HTTP2Client.get("/", [($0, "x")]) }),
        ("the end of a field's name", { HTTP2Client.get("/", [("connection" + $0, "x")]) }),
        ("a field", { HTTP2Client.get("/", [("x-field", $0)]) }),
        ("te", { HTTP2Client.get("/", [("te", $0)]) }),
        ("te with a valid start", { HTTP2Client.get("/", [("te", "trailers" + $0)]) }),
        ("host", { HTTP2Client.get("/", [("host", $0)]) }),
        ("host with a valid start", { HTTP2Client.get("/", [("host", "localhost" + $0)]) }),
        ("cookie", { HTTP2Client.get("/", [("cookie", $0), ("cookie", $0)]) }),
        ("content-length", { HTTP2Client.get("/", [("content-length", $0)]) }),
        ("the name of a pseudo-field", { HTTP2Client.get() + [(":" + $0, "x")] }),
        (":method", { text in HTTP2Client.get().map { $0.0 == ":method" ? ($0.0, text) : $0 } }),
        (
            ":method with a valid start",
            { text in HTTP2Client.get().map { $0.0 == ":method" ? ($0.0, "HEAD" + text) : $0 } }
        ),
        (":scheme", { text in HTTP2Client.get().map { $0.0 == ":scheme" ? ($0.0, text) : $0 } }),
        (
            ":scheme with a valid start",
            { text in HTTP2Client.get().map { $0.0 == ":scheme" ? ($0.0, "https" + text) : $0 } }
        ),
        (":authority", { text in HTTP2Client.get().map { $0.0 == ":authority" ? ($0.0, text) : $0 } }),
        (":path", { HTTP2Client.get("/" + $0) }),
    ]

    private static let count = 15_000

    private func cost(_ fields: Fields) throws -> Double {
        let (client, _) = try EmbeddedChannel.client()
        var rest = HTTP2Client.plainBlock(fields)
        var frames = [Frame(.headers, flags: 1, 1), Frame(.continuation, flags: 4, 1)]
        frames[0].payload = rest.readSlice(length: min(16_000, rest.readableBytes)) ?? ByteBuffer()
        frames[1].payload = rest
        return ProcessorTime.measureThread { client.send(frames) }
    }

    @Test(arguments: places.indices)
    func `combining marks in an HTTP/2 request cost no more than letters`(index: Int) async throws {
        let (name, fields) = Self.places[index]
        let letters = fields(String(repeating: "abcd", count: Self.count / 4))
        let marks = fields(String(repeating: "\u{301}\u{323}", count: Self.count / 4))
        let ratio = try await CostRatio(below: 3, of: { try cost(marks) }, to: { try cost(letters) })
        #expect(ratio.value < 3, "\(name): \(ratio)")
    }

    @Test func `many references to one table entry cost the same for combining marks and letters`() async throws {
        func cost(of unit: String) throws -> Double {
            let (client, _) = try EmbeddedChannel.client()
            let text = String(repeating: unit, count: 3900 / unit.utf8.count)
            var block = try client.block(HTTP2Client.get("/", [(text, text.isEmpty ? "" : "x")]))
            for _ in 0..<40 { block.writeInteger(UInt8(0x80 | 62)) }
            let frame = Frame(.headers, flags: 5, 1, block)
            return ProcessorTime.measureThread { client.send(frame) }
        }
        let ratio = try await CostRatio(
            below: 3,
            of: { try cost(of: "\u{301}\u{323}") },
            to: { try cost(of: "abcd") }
        )
        #expect(ratio.value < 3, "\(ratio)")
    }
}
