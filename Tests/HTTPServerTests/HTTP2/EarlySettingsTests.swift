// SPDX-License-Identifier: Apache-2.0

import HTTPLimits
import NIOCore
import NIOEmbedded
import NIOHPACK
import SeededRandom
import Testing

@testable import HTTPServer

/// The server's settings before the client has acknowledged them.
struct EarlySettingsTests {
    private static func large(_ count: Int) -> [(String, String)] {
        HTTP2Client.get("/", (0..<count).map { ("a\($0)", String(repeating: "a", count: 8000)) })
    }

    private static let acknowledgement = Frame(.settings, flags: 1)

    /// Splits a header block into frames of 16 KiB.
    private static func frames(_ stream: UInt32, _ block: ByteBuffer) -> [Frame] {
        var (rest, frames) = (block, [Frame]())
        while let part = rest.readSlice(length: min(16_384, rest.readableBytes)), part.readableBytes > 0 {
            let isFirst = frames.isEmpty
            frames.append(Frame(isFirst ? .headers : .continuation, flags: isFirst ? 1 : 0, stream, part))
        }
        frames[frames.count - 1].flags |= 4
        return frames
    }

    @Test func `a large first request is answered before the settings are acknowledged`() throws {
        let (client, _) = try EmbeddedChannel.client()
        client.send(Self.frames(1, try client.block(Self.large(3))))
        #expect(client.status(1) == "200", "\(client.frames)")
        client.send([Self.acknowledgement, Self.acknowledgement])
        client.send(Self.frames(3, try client.block(Self.large(3))))
        #expect(client.status(3) == "200" && !client.isOver)
    }

    @Test(arguments: [40, 64, 120, 136, 200, 248])
    func `a header that is too long is refused on its stream, and the connection stays open`(kilobytes: Int) throws {
        let (client, _) = try EmbeddedChannel.client()
        // Each frame arrives in a separate read.
        for frame in Self.frames(1, HTTP2Client.plainBlock(Self.large(kilobytes / 8))) { client.send(frame) }
        #expect(client.status(1) == "431", "\(client.frames)")
        client.send(Self.frames(3, try client.block(HTTP2Client.get())))
        #expect(client.status(3) == "200" && !client.isOver)
    }

    @Test func `the settings contain the limit of concurrent streams`() throws {
        var limits = HTTPLimits()
        limits.streams = 7
        let (client, _) = try EmbeddedChannel.client(limits)
        let settings = client.frames.filter { $0.kind == 4 && $0.flags == 0 }
        let values = settings.flatMap { frame in
            stride(from: 0, to: frame.payload.readableBytes, by: 6).map { offset in
                let index = frame.payload.readerIndex + offset
                return (
                    frame.payload.getInteger(at: index, as: UInt16.self),
                    frame.payload.getInteger(at: index + 2, as: UInt32.self)
                )
            }
        }
        #expect(settings.count == 2 && values.contains { $0 == (3, 7) })
    }

    @Test func `an unexpected SETTINGS acknowledgement closes the connection`() throws {
        let (client, _) = try EmbeddedChannel.client()
        client.send([Self.acknowledgement, Self.acknowledgement])
        #expect(!client.isOver)
        client.send(Self.acknowledgement)
        #expect(client.goAway == 1 && client.isOver)
    }

    @Test func `NIOHTTP2 receives the same bytes, however they are split`() {
        var random = Random(seed: 3)
        var all = ByteBuffer(string: HTTP2Client.preface)
        let frames = [
            Frame(.settings, 0, ByteBuffer(bytes: [0, 4, 0, 0, 0, 1])), Frame(.windowUpdate, 0, ByteBuffer(integer: 1)),
            Self.acknowledgement, Frame(.ping, 0, ByteBuffer(repeating: 1, count: 8)), Self.acknowledgement,
        ]
        for frame in frames { all.writeImmutableBuffer(frame.bytes) }
        var wanted = ByteBuffer(string: HTTP2Client.preface)
        for frame in [frames[0], Self.acknowledgement, frames[1], frames[3], frames[4]] {
            wanted.writeImmutableBuffer(frame.bytes)
        }
        for _ in 0..<500 {
            var (settings, rest, seen) = (EarlySettings(), all, ByteBuffer())
            while let part = rest.readSlice(length: min(1 + random.below(20), rest.readableBytes)),
                part.readableBytes > 0
            {
                seen.writeImmutableBuffer(settings.filter(part))
            }
            #expect(seen == wanted)
        }
    }

    @Test func `a connection that does not begin with SETTINGS is closed`() throws {
        let (client, _) = try EmbeddedChannel.client(HTTPLimits(), sendsPreface: false)
        client.send([Frame(.ping, 0, ByteBuffer(repeating: 1, count: 8))], preface: true)
        #expect(client.isOver)
    }
}
