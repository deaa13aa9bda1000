// SPDX-License-Identifier: Apache-2.0

import HTTPLimits
import HTTPTypes
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

    @Test func `a request that is refused resets its stream, and the client may repeat it`() throws {
        let (client, _) = try EmbeddedChannel.client { _, target in
            target == "/now" ? .immediate(PageResponder.page("now")) : .refused(PageResponder.page("busy"))
        }
        let stream = try client.request(HTTP2Client.get("/busy"))
        #expect(client.reset(stream) == 7 && client.fields[stream] == nil)
        #expect(client.status(try client.request(HTTP2Client.get("/now"))) == "200" && !client.isOver)
    }

    @Test func `a request whose body does not arrive has no task`() throws {
        let hasBegun = Seen()
        let (client, loop) = try EmbeddedChannel.client { _, _ in
            .deferred { _ in
                hasBegun.note()
                return .text("")
            }
        }
        let streams = try (0..<20).map { _ in try client.request(HTTP2Client.post("/"), ends: false) }
        for stream in streams { client.data(stream, 100, ends: false) }
        loop.advanceTime(by: .seconds(60))
        client.collect()
        #expect(streams.allSatisfy { client.status($0) == "408" })
        #expect(!hasBegun.hasHappened)
    }

    @Test func `a body of more than 64 KiB is rejected before a task begins`() throws {
        var limits = HTTPLimits()
        limits.body = 1_000_000
        let hasBegun = Seen()
        let (client, _) = try EmbeddedChannel.client(limits) { _, _ in
            .deferred { _ in
                hasBegun.note()
                return .text("")
            }
        }
        let announced = try client.request(HTTP2Client.post("/", [("content-length", "65537")]), ends: false)
        #expect(client.status(announced) == "413")
        let unannounced = try client.request(HTTP2Client.post("/"), ends: false)
        for _ in 0..<5 where client.status(unannounced) == nil { client.data(unannounced, 16_000, ends: false) }
        #expect(client.status(unannounced) == "413" && !client.isOver && !hasBegun.hasHappened)
    }

    @Test func `the responses that an address does not read are limited on all its connections together`() throws {
        var limits = HTTPLimits()
        limits.connectionsPerAddress = 30
        let counter = ConnectionCounter(limits)
        let address = AddressKey(try SocketAddress(ipAddress: "192.0.2.1", port: 1))
        let clients = try (0..<2).map { _ in
            let place = ConnectionPlace(counter, address: address) {}
            #expect(counter.admit(place) == .admitted)
            return try EmbeddedChannel.client(limits, place: place).client
        }
        var streams: [[UInt32]] = []
        for client in clients {
            client.send(Frame(.settings, 0, ByteBuffer(bytes: [0, 4, 0, 0, 0, 0])))
            streams.append(try (0..<20).map { _ in try client.request() })
        }
        #expect(streams[0].allSatisfy { clients[0].reset($0) == nil })
        #expect(streams[1].count { clients[1].reset($0) != nil } >= 10)
        // A client that reads has no limit.
        clients[0].send(Frame(.settings, 0, ByteBuffer(bytes: [0, 4, 0, 0, 0xFF, 0xFF])))
        #expect(streams[0].allSatisfy { clients[0].hasEnded($0) })
        clients[1].send(Frame(.settings, 0, ByteBuffer(bytes: [0, 4, 0, 0, 0xFF, 0xFF])))
        for _ in 0..<50 {
            let stream = try clients[1].request()
            #expect(clients[1].hasEnded(stream))
        }
    }

    @Test func `an idle connection is evicted, and a connection with a running task is not`() throws {
        let (idle, _) = try EmbeddedChannel.client()
        try idle.request()
        idle.channel.pipeline.fireUserInboundEventTriggered(ConnectionEviction())
        idle.collect()
        #expect(idle.goAway == 0 && idle.network.isClosed && idle.endCount == 1)
        let (busy, _) = try EmbeddedChannel.client { _, _ in
            .prepared(beginsOnEventLoop: true) {
                // The response is never prepared.
                unsafe await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
                return PageResponder.page("never")
            }
        }
        try busy.request()
        busy.channel.pipeline.fireUserInboundEventTriggered(ConnectionEviction())
        #expect(!busy.network.isClosed)
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
