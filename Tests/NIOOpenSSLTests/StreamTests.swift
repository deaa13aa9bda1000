// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import NIOCore
import NIOEmbedded
import NIOOpenSSL
import OpenSSLKit
import SeededRandom
import Testing

@Suite struct StreamTests {
    @Test func `ten megabytes are echoed, in pieces of any size`() throws {
        let wire = try Wire.connected()
        var numbers = Random(seed: 10)
        var pieces = Random(seed: 11)
        wire.server.application.onRead = { context, data in
            context.writeAndFlush(NIOAny(data), promise: nil)
        }
        let size = 10 << 20
        var sent = ByteBuffer()
        while sent.readableBytes < size {
            let count = [1, 100, 5_000, 16_384, 16_385, 300_000].randomElement(using: &numbers) ?? 1
            let data = ByteBuffer(repeating: UInt8.random(in: 0...255, using: &numbers), count: count)
            sent.writeImmutableBuffer(data)
            wire.client.channel.write(data, promise: nil)
            if Bool.random(using: &numbers) {
                wire.client.channel.flush()
                try wire.pump(piece: { Int.random(in: 1...40_000, using: &pieces) })
            }
        }
        wire.client.channel.flush()
        try wire.pump(piece: { Int.random(in: 1...40_000, using: &pieces) })
        #expect(wire.server.application.received == sent)
        #expect(wire.client.application.received == sent)
    }

    @Test func `a write of 16 KiB is one record, and a longer write is several records`() throws {
        for (count, records) in [(16_384, 1), (16_385, 2), (1, 1), (40_000, 3)] {
            let wire = try Wire.connected()
            wire.client.channel.writeAndFlush(ByteBuffer(repeating: 7, count: count), promise: nil)
            let bytes = try wire.client.sent()
            #expect(recordSizes(bytes).count == records, "\(count) bytes")
            try wire.server.take(bytes)
            #expect(wire.server.application.received == ByteBuffer(repeating: 7, count: count))
        }
    }

    @Test func `small writes of one flush share a record and a flush`() throws {
        let wire = try Wire.connected()
        let before = wire.client.network.flushCount
        var order: [Int] = []
        for number in 0..<10 {
            wire.client.channel.write(ByteBuffer(string: "\(number)")).assumeIsolated().whenSuccess {
                order.append(number)
            }
        }
        #expect(try wire.client.sent().readableBytes == 0)
        wire.client.channel.flush()
        #expect(wire.client.network.flushCount == before + 1)
        #expect(order == Array(0..<10))
        let bytes = try wire.client.sent()
        #expect(recordSizes(bytes).count == 1)
        try wire.server.take(bytes)
        #expect(wire.server.application.text == "0123456789")
    }

    @Test func `only writes before the flush are sent`() throws {
        let wire = try Wire.connected()
        wire.client.channel.write(ByteBuffer(string: "a"), promise: nil)
        wire.client.channel.flush()
        wire.client.channel.write(ByteBuffer(string: "b"), promise: nil)
        try wire.pump()
        #expect(wire.server.application.text == "a")
        wire.client.channel.flush()
        try wire.pump()
        #expect(wire.server.application.text == "ab")
    }

    @Test func `an empty write sends no bytes, and its promise succeeds`() throws {
        let wire = try Wire.connected()
        try wire.client.channel.writeAndFlush(ByteBuffer()).wait()
        #expect(try wire.client.sent().readableBytes == 0)
        wire.client.channel.write(ByteBuffer(), promise: nil)
        wire.client.send("x")
        try wire.pump()
        #expect(wire.server.application.text == "x")
    }

    @Test func `a write leaves the buffer of the caller unchanged`() throws {
        let wire = try Wire.connected()
        let first = ByteBuffer(string: "first")
        let second = ByteBuffer(string: "second")
        wire.client.channel.write(first, promise: nil)
        wire.client.channel.write(second, promise: nil)
        wire.client.channel.flush()
        #expect(String(buffer: first) == "first" && String(buffer: second) == "second")
    }

    @Test func `records that arrive together are delivered in one read`() throws {
        let wire = try Wire.connected()
        for _ in 0..<20 { wire.client.send("0123456789") }
        let before = wire.server.application.readCompleteCount
        try wire.server.take(wire.client.sent())
        #expect(wire.server.application.readCount == 1)
        #expect(wire.server.application.readCompleteCount == before + 1)
        #expect(wire.server.application.received.readableBytes == 200)
    }

    @Test func `data that arrives without a read is delivered by the next read`() throws {
        let wire = try Wire.connected()
        wire.client.send("one")
        try wire.server.take(wire.client.sent())
        #expect(wire.server.application.text == "one")
        wire.client.send("two")
        try wire.server.take(wire.client.sent(), reading: false)
        #expect(wire.server.application.text == "one")
        wire.client.send("three")
        try wire.server.take(wire.client.sent(), reading: false)
        #expect(wire.server.application.text == "one")
        let reads = wire.server.network.readCount
        wire.server.channel.read()
        #expect(wire.server.application.text == "onetwothree")
        // Passed on as well: with autoRead there is no further call.
        #expect(wire.server.network.readCount == reads + 1)
    }

    @Test func `the handler reads again after an incomplete record`() throws {
        let wire = try Wire.connected()
        wire.client.send("whole")
        var bytes = try wire.client.sent()
        let slice = bytes.readSlice(length: 9)
        let half = try #require(slice)
        let reads = wire.server.network.readCount
        try wire.server.take(half)
        #expect(wire.server.network.readCount == reads + 2)
        try wire.server.channel.writeInbound(bytes)
        #expect(wire.server.application.text == "whole")
        // The application has its data: no further reads.
        #expect(wire.server.network.readCount == reads + 2)
    }

    @Test func `without autoRead the handshake reads, and data waits for a read`() throws {
        let wire = try Wire()
        try wire.connect()
        wire.client.send("early")
        while true {
            let up = try wire.client.sent()
            try wire.server.take(up, reading: false)
            let down = try wire.server.sent()
            try wire.client.take(down)
            if up.readableBytes + down.readableBytes == 0 { break }
        }
        #expect(wire.server.network.readCount >= 1)
        #expect(wire.server.application.handshakes.count == 1)
        #expect(wire.server.application.text == "")
        wire.server.channel.read()
        #expect(wire.server.application.text == "early")
    }

    @Test func `unread data is delivered before the end of the connection`() throws {
        let wire = try Wire.connected()
        wire.client.send("first, ")
        try wire.server.take(wire.client.sent())
        wire.client.send("last words")
        try wire.client.channel.close().wait()
        try wire.server.take(wire.client.sent(), reading: false)
        #expect(wire.server.application.text == "first, ")
        wire.server.network.drop()
        #expect(wire.server.application.text == "first, last words")
        #expect(wire.server.application.errors.isEmpty)
        #expect(wire.server.application.isInactive)
    }

    @Test func `an answer written during a read is sent`() throws {
        let wire = try Wire.connected()
        wire.server.application.onRead = { context, data in
            context.writeAndFlush(NIOAny(ByteBuffer(string: "pong")), promise: nil)
        }
        wire.client.send("ping")
        try wire.pump()
        #expect(wire.client.application.text == "pong")
    }

    @Test func `a changed byte anywhere in a record ends the connection with an alert`() throws {
        var numbers = Random(seed: 3)
        for _ in 0..<50 {
            let wire = try Wire.connected()
            wire.client.send("the quick brown fox")
            var bytes = try wire.client.sent()
            // From 5 on: with another length in the header the server would wait for more.
            let index = Int.random(in: 5..<bytes.readableBytes, using: &numbers)
            let old = try #require(bytes.getInteger(at: index, as: UInt8.self))
            bytes.setInteger(old ^ UInt8.random(in: 1...255, using: &numbers), at: index)
            let waiting = wire.server.channel.write(ByteBuffer(string: "unflushed"))
            try wire.server.take(bytes)
            #expect(wire.server.application.codes == [.connectionFailed])
            #expect(wire.server.application.text == "")
            #expect(!wire.server.channel.isActive)
            #expect(throws: NIOOpenSSLError(.connectionFailed)) { try waiting.wait() }
            try wire.client.take(wire.server.sent())
            #expect((wire.client.application.errors.first as? NIOOpenSSLError)?.cause?.code == .alertReceived)
        }
    }

    @Test func `a record longer than allowed ends the connection`() throws {
        let wire = try Wire.connected()
        // The largest length is 2^14 + 256 (RFC 8446 section 5.2).
        let length = 16_384 + 257
        try wire.server.take(ByteBuffer(bytes: [0x17, 3, 3, UInt8(length >> 8), UInt8(length & 255)]))
        #expect(wire.server.application.codes == [.connectionFailed])
        #expect(!wire.server.channel.isActive)
    }

    @Test func `a close during the read of data causes no error`() throws {
        let wire = try Wire.connected()
        wire.server.application.onRead = { context, _ in context.close(promise: nil) }
        wire.client.send("a")
        wire.client.send("b")
        try wire.client.channel.close().wait()
        try wire.pump()
        #expect(wire.server.application.errors.isEmpty)
        #expect(wire.server.application.isInactive)
    }

    @Test func `a close during the handshake event causes no error`() throws {
        let wire = try Wire()
        wire.server.application.onHandshake = { context in context.close(promise: nil) }
        let written = wire.server.send("x")
        try wire.connect()
        try wire.pump()
        #expect(wire.server.application.isInactive)
        #expect(wire.server.application.errors.isEmpty)
        #expect(throws: (any Error).self) { try written.wait() }
    }
}

/// The lengths of the records in a stream of ciphertext.
private func recordSizes(_ bytes: ByteBuffer) -> [Int] {
    var bytes = bytes
    var sizes: [Int] = []
    while bytes.readableBytes >= 5 {
        bytes.moveReaderIndex(forwardBy: 3)
        guard let size = bytes.readInteger(as: UInt16.self), bytes.readSlice(length: Int(size)) != nil else { break }
        sizes.append(Int(size))
    }
    return sizes
}
