// SPDX-License-Identifier: Apache-2.0

import HTTPLimits
import NIOCore
import NIOEmbedded
import Testing

@testable import HTTPServer

/// The deadlines of an HTTP/2 connection.
struct HTTP2DeadlineTests {
    @Test func `a silent client is disconnected after the header time`() throws {
        let (client, loop) = try EmbeddedChannel.client(sendsPreface: false)
        loop.advanceTime(by: .seconds(9))
        #expect(!client.isOver)
        loop.advanceTime(by: .seconds(2))
        #expect(client.isOver)
    }

    @Test func `a client that sends only its preface is disconnected after the header time`() throws {
        let (client, loop) = try EmbeddedChannel.client()
        loop.advanceTime(by: .seconds(9))
        #expect(!client.isOver)
        loop.advanceTime(by: .seconds(2))
        client.collect()
        #expect(client.isOver && client.goAway == 0)
    }

    @Test func `an idle connection ends with GOAWAY, and PING does not keep it open`() throws {
        let (client, loop) = try EmbeddedChannel.client()
        try client.request()
        for _ in 0..<55 {
            loop.advanceTime(by: .seconds(1))
            client.send(Frame(.ping, 0, ByteBuffer(repeating: 1, count: 8)))
        }
        #expect(!client.isOver)
        loop.advanceTime(by: .seconds(6))
        client.collect()
        #expect(client.isOver && client.goAway == 0 && client.endCount == 0)
        loop.advanceTime(by: .seconds(6))
        #expect(client.network.isClosed && client.endCount == 1)
    }

    @Test func `a connection whose streams all wait for the client is idle since its last request`() throws {
        let counter = ConnectionCounter(HTTPLimits())
        let place = ConnectionPlace(counter, address: AddressKey(nil)) {}
        let (client, loop) = try EmbeddedChannel.client(place: place)
        // The client's windows are closed, so that its streams stay open.
        client.send(Frame(.settings, 0, ByteBuffer(bytes: [0, 4, 0, 0, 0, 0])))
        for _ in 0..<3 {
            try client.request()
            loop.advanceTime(by: .seconds(5))
        }
        #expect(!client.isOver)
        #expect(place.idleTime > 4_000_000_000 && place.idleTime < 6_000_000_000)
    }

    @Test(arguments: [3, 9, 12])
    func `a header block that stays incomplete ends the connection`(count: Int) throws {
        let (client, loop) = try EmbeddedChannel.client()
        try client.request()
        var bytes = try client.headers(HTTP2Client.get("/", [("a", "bcdefghijklmnopqrstuvwxyz")])).bytes
        let part = bytes.readSlice(length: count)
        client.sendBytes(try #require(part))
        for _ in 0..<11 where !client.isOver {
            loop.advanceTime(by: .seconds(1))
            // Further bytes do not extend the time limit.
            if let byte = bytes.readSlice(length: 1) { client.sendBytes(byte) }
        }
        client.collect()
        #expect(client.isOver && client.goAway == 11)
    }

    @Test(arguments: [true, false])
    func `an HTTP/2 client that waits for 100 has as much time as the task that prepares its response`(
        expectsContinue: Bool
    ) throws {
        var limits = HTTPLimits()
        limits.idleTime = .seconds(600)
        let (client, loop) = try EmbeddedChannel.client(limits) { _, _ in
            .prepared(beginsOnEventLoop: true) {
                // The response is never prepared.
                unsafe await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
                return PageResponder.page("never")
            }
        }
        let stream = try client.request(
            HTTP2Client.get("/", expectsContinue ? [("expect", "100-continue")] : []),
            ends: false
        )
        for _ in 0..<100 { loop.advanceTime(by: .seconds(1)) }
        client.collect()
        #expect(client.status(stream) == (expectsContinue ? nil : "408"))
    }

    @Test func `an HTTP/2 client that reads nothing is disconnected`() throws {
        let (client, loop) = try EmbeddedChannel.client()
        let channel = try #require(client.channel as? EmbeddedChannel)
        channel.isWritable = false
        channel.pipeline.fireChannelWritabilityChanged()
        let reads = client.network.readCount
        try client.request()
        #expect(client.network.readCount == reads, "the server has read more data from the client")
        loop.advanceTime(by: .seconds(21))
        #expect(client.network.isClosed && client.endCount == 1)
    }

    @Test func `a drain sends GOAWAY, waits until open streams finish, and closes the connection`() throws {
        let (client, _) = try EmbeddedChannel.client()
        client.send(Frame(.settings, 0, ByteBuffer(bytes: [0, 4, 0, 0, 0, 0])))
        let stream = try client.request()
        client.loopState.drain()
        client.send([])
        #expect(client.goAway == 0 && !client.isOver && !client.hasEnded(stream))
        let late = try client.request()
        #expect(client.fields[late] == nil)
        client.send(Frame(.windowUpdate, stream, ByteBuffer(integer: UInt32(100))))
        #expect(client.hasEnded(stream) && client.body(stream) == "hello" && client.isOver)
    }

    @Test func `a drain closes an idle connection`() throws {
        let (client, _) = try EmbeddedChannel.client()
        try client.request()
        client.loopState.drain()
        client.send([])
        #expect(client.goAway == 0 && client.isOver)
    }

    @Test func `closing all connections ends each connection exactly once`() throws {
        let (client, _) = try EmbeddedChannel.client()
        client.loopState.closeAll()
        #expect(client.network.isClosed && client.endCount == 1)
        client.loopState.closeAll()
        #expect(client.endCount == 1)
    }

    @Test func `a connection that is lost ends exactly once`() throws {
        let (client, loop) = try EmbeddedChannel.client()
        client.send(Frame(.settings, 0, ByteBuffer(bytes: [0, 4, 0, 0, 0, 0])))
        try client.request()
        client.channel.close(promise: nil)
        loop.run()
        #expect(client.endCount == 1)
    }

    @Test func `the requests of a client that sends GOAWAY are answered, and the client is disconnected`() throws {
        let (client, _) = try EmbeddedChannel.client()
        let stream = try client.request()
        client.send(Frame(.goAway, 0, ByteBuffer(repeating: 0, count: 8)))
        #expect(client.hasEnded(stream) && client.isOver)
    }

    @Test func `a half-closed connection is closed`() throws {
        let (client, _) = try EmbeddedChannel.client()
        let stream = try client.request()
        client.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        client.send([])
        #expect(client.hasEnded(stream) && client.network.isClosed && client.endCount == 1)
    }
}
