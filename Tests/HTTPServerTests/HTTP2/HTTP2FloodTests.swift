// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import HTTPLimits
import NIOCore
import NIOEmbedded
import NIOHPACK
import Testing

@testable import HTTPServer

/// Hostile clients.
///
/// The server disconnects them before they cause much work.
struct HTTP2FloodTests {
    private static let calm: UInt32 = 11

    private func flood(
        _ count: Int,
        _ frames: (HTTP2Client) throws -> [Frame]
    ) throws -> HTTP2Client {
        let (client, _) = try EmbeddedChannel.client()
        for _ in 0..<count where !client.isOver { client.send(try frames(client)) }
        return client
    }

    @Test func `streams opened and reset in quick succession end the connection (CVE-2023-44487)`() throws {
        // The responses wait for a window, so the streams stay open and can be reset.
        let (client, _) = try EmbeddedChannel.client(HTTPLimits(), "hello")
        client.send(Frame(.settings, 0, ByteBuffer(bytes: [0, 4, 0, 0, 0, 0])))
        var count = 0
        while !client.isOver, count < 1000 {
            let headers = try client.headers(HTTP2Client.get())
            client.send([headers, Frame(.reset, headers.stream, ByteBuffer(integer: UInt32(8)))])
            count += 1
        }
        #expect(client.isOver && client.goAway == Self.calm && count <= 202)
    }

    @Test func `an endless header block ends the connection`() throws {
        let (client, _) = try EmbeddedChannel.client()
        client.send(Frame(.headers, flags: 0, 1, try client.block(HTTP2Client.get())))
        for _ in 0..<20 where !client.isOver {
            client.send(Frame(.continuation, flags: 0, 1, try client.block([("a", "b")])))
        }
        #expect(client.goAway == Self.calm && client.isOver)
        #expect(client.fields.isEmpty)
    }

    @Test func `a header list that is too long ends the connection`() throws {
        let (client, _) = try EmbeddedChannel.client()
        client.send(Frame(.settings, flags: 1))
        var frames = [Frame(.headers, flags: 1, 1, try client.block(HTTP2Client.get()))]
        for index in 0..<17 {
            let block = try client.block([("a\(index)", String(repeating: "a", count: 17_000))])
            frames.append(Frame(.continuation, flags: index == 16 ? 4 : 0, 1, block))
        }
        client.send(frames)
        #expect(client.goAway != nil && client.goAway != 0 && client.isOver)
        #expect(client.fields.isEmpty)
    }

    @Test func `a header block that grows when it is decoded ends the connection`() throws {
        let (client, _) = try EmbeddedChannel.client()
        client.send(Frame(.settings, flags: 1))
        // One table entry of 4,000 bytes, and then many references of one byte to the entry.
        var block = try client.block(HTTP2Client.get("/", [("bomb", String(repeating: "a", count: 3900))]))
        for _ in 0..<8000 { block.writeInteger(UInt8(0x80 | 62)) }
        client.send(Frame(.headers, flags: 5, 1, block))
        #expect(client.goAway != nil && client.goAway != 0 && client.isOver)
        #expect(client.fields.isEmpty)
    }

    @Test func `a flood of SETTINGS frames ends the connection`() throws {
        let client = try flood(1000) { _ in [Frame(.settings)] }
        #expect(client.goAway == Self.calm && client.frames.count { $0.kind == 4 } <= 203)
    }

    @Test func `a flood of PING frames ends the connection`() throws {
        let client = try flood(1000) { _ in [Frame(.ping, 0, ByteBuffer(repeating: 1, count: 8))] }
        #expect(client.goAway == Self.calm && client.frames.count { $0.kind == 6 } <= 201)
    }

    @Test func `a flood of PRIORITY frames ends the connection`() throws {
        let client = try flood(1000) { _ in [Frame(.priority, 3, ByteBuffer(bytes: [0, 0, 0, 0, 1]))] }
        #expect(client.goAway == Self.calm)
    }

    @Test func `a flood of empty DATA frames ends the connection`() throws {
        var limits = HTTPLimits()
        limits.body = 100
        let (client, _) = try EmbeddedChannel.client(limits)
        // Without a window the response stays incomplete, so the stream stays open.
        client.send(Frame(.settings, 0, ByteBuffer(bytes: [0, 4, 0, 0, 0, 0])))
        let stream = try client.request(HTTP2Client.post(), ends: false)
        for _ in 0..<100 where !client.isOver { client.data(stream, 0, ends: false) }
        #expect(client.goAway == Self.calm && client.isOver)
    }

    @Test(arguments: [8, 0x42])
    func `a flood of WINDOW_UPDATE frames or unknown frames ends the connection`(kind: UInt8) throws {
        let one = Frame(kind, 0, ByteBuffer(integer: UInt32(1)))
        let client = try flood(1000) { _ in Array(repeating: one, count: 100) }
        #expect(client.goAway == Self.calm && client.isOver)
    }

    @Test func `a stream is reset after the write time if the client does not open its window`() throws {
        let (client, loop) = try EmbeddedChannel.client()
        client.send(Frame(.settings, 0, ByteBuffer(bytes: [0, 4, 0, 0, 0, 0])))
        let stream = try client.request()
        #expect(client.status(stream) == "200" && !client.hasEnded(stream))
        loop.advanceTime(by: .seconds(21))
        client.collect()
        #expect(client.reset(stream) == 8 && !client.isOver)
    }

    @Test func `streams beyond the limit are refused`() throws {
        var limits = HTTPLimits()
        limits.streams = 3
        let (client, _) = try EmbeddedChannel.client(limits)
        client.send(Frame(.settings, 0, ByteBuffer(bytes: [0, 4, 0, 0, 0, 0])))
        let streams = try (0..<5).map { _ in try client.request() }
        #expect(streams.map { client.reset($0) } == [nil, nil, nil, 7, 7])
    }

    @Test func `a window overflow ends the connection`() throws {
        let (client, _) = try EmbeddedChannel.client()
        client.send(Frame(.windowUpdate, 0, ByteBuffer(integer: UInt32(0x7FFF_FFFF))))
        #expect(client.goAway == 3 && client.isOver)
    }

    @Test(arguments: ["GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\r"])
    func `a wrong preface ends the connection`(text: String) throws {
        let (client, _) = try EmbeddedChannel.client(sendsPreface: false)
        client.sendBytes(ByteBuffer(string: text))
        #expect(client.isOver && client.goAway == 1)
    }
}
