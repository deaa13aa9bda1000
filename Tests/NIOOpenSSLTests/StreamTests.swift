// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import NIOOpenSSL
import OpenSSLKit
import SeededRandom
import Testing

@Suite struct StreamTests {
    @Test func `ten megabytes are echoed, in pieces of any size`() throws {
        let pair = try TLSPair.connected()
        var numbers = Random(seed: 10)
        var pieces = Random(seed: 11)
        pair.server.application.onRead = { context, data in
            context.writeAndFlush(NIOAny(data), promise: nil)
        }
        let size = 10 << 20
        var sent = ByteBuffer()
        while sent.readableBytes < size {
            let count = [1, 100, 5_000, 16_384, 16_385, 300_000].randomElement(using: &numbers) ?? 1
            let data = ByteBuffer(repeating: UInt8.random(in: 0...255, using: &numbers), count: count)
            sent.writeImmutableBuffer(data)
            pair.client.channel.write(data, promise: nil)
            if Bool.random(using: &numbers) {
                pair.client.channel.flush()
                try pair.exchange(piece: { Int.random(in: 1...40_000, using: &pieces) })
            }
        }
        pair.client.channel.flush()
        try pair.exchange(piece: { Int.random(in: 1...40_000, using: &pieces) })
        #expect(pair.server.application.received == sent)
        #expect(pair.client.application.received == sent)
    }

    @Test func `a write of 16 KiB is one record, and a longer write is several records`() throws {
        for (count, records) in [(16_384, 1), (16_385, 2), (1, 1), (40_000, 3)] {
            let pair = try TLSPair.connected()
            pair.client.channel.writeAndFlush(ByteBuffer(repeating: 7, count: count), promise: nil)
            let bytes = try pair.client.sent()
            #expect(recordSizes(bytes).count == records, "\(count) bytes")
            try pair.server.receive(bytes)
            #expect(pair.server.application.received == ByteBuffer(repeating: 7, count: count))
        }
    }

    @Test func `small writes of one flush share a record and a flush`() throws {
        let pair = try TLSPair.connected()
        let before = pair.client.network.flushCount
        var order: [Int] = []
        for number in 0..<10 {
            pair.client.channel.write(ByteBuffer(string: "\(number)")).assumeIsolated().whenSuccess {
                order.append(number)
            }
        }
        #expect(try pair.client.sent().readableBytes == 0)
        pair.client.channel.flush()
        #expect(pair.client.network.flushCount == before + 1)
        #expect(order == Array(0..<10))
        let bytes = try pair.client.sent()
        #expect(recordSizes(bytes).count == 1)
        try pair.server.receive(bytes)
        #expect(pair.server.application.text == "0123456789")
    }

    @Test func `only writes before the flush are sent`() throws {
        let pair = try TLSPair.connected()
        pair.client.channel.write(ByteBuffer(string: "a"), promise: nil)
        pair.client.channel.flush()
        pair.client.channel.write(ByteBuffer(string: "b"), promise: nil)
        try pair.exchange()
        #expect(pair.server.application.text == "a")
        pair.client.channel.flush()
        try pair.exchange()
        #expect(pair.server.application.text == "ab")
    }

    @Test func `an empty write sends no bytes, and its promise succeeds`() throws {
        let pair = try TLSPair.connected()
        try pair.client.channel.writeAndFlush(ByteBuffer()).wait()
        #expect(try pair.client.sent().readableBytes == 0)
        pair.client.channel.write(ByteBuffer(), promise: nil)
        pair.client.send("x")
        try pair.exchange()
        #expect(pair.server.application.text == "x")
    }

    @Test func `a write leaves the buffer of the caller unchanged`() throws {
        let pair = try TLSPair.connected()
        let first = ByteBuffer(string: "first")
        let second = ByteBuffer(string: "second")
        pair.client.channel.write(first, promise: nil)
        pair.client.channel.write(second, promise: nil)
        pair.client.channel.flush()
        #expect(String(buffer: first) == "first" && String(buffer: second) == "second")
    }

    @Test func `records that arrive together are delivered in one read`() throws {
        let pair = try TLSPair.connected()
        for _ in 0..<20 { pair.client.send("0123456789") }
        let before = pair.server.application.readCompleteCount
        try pair.server.receive(pair.client.sent())
        #expect(pair.server.application.readCount == 1)
        #expect(pair.server.application.readCompleteCount == before + 1)
        #expect(pair.server.application.received.readableBytes == 200)
    }

    @Test func `data that arrives without a read is delivered by the next read`() throws {
        let pair = try TLSPair.connected()
        pair.client.send("one")
        try pair.server.receive(pair.client.sent())
        #expect(pair.server.application.text == "one")
        pair.client.send("two")
        try pair.server.receive(pair.client.sent(), reading: false)
        #expect(pair.server.application.text == "one")
        pair.client.send("three")
        try pair.server.receive(pair.client.sent(), reading: false)
        #expect(pair.server.application.text == "one")
        let reads = pair.server.network.readCount
        pair.server.channel.read()
        #expect(pair.server.application.text == "onetwothree")
        // The handler also reads from the network. With autoRead, SwiftNIO calls read() again only after such a read.
        #expect(pair.server.network.readCount == reads + 1)
    }

    @Test func `the handler reads again after an incomplete record`() throws {
        let pair = try TLSPair.connected()
        pair.client.send("whole")
        var bytes = try pair.client.sent()
        let slice = bytes.readSlice(length: 9)
        let half = try #require(slice)
        let reads = pair.server.network.readCount
        try pair.server.receive(half)
        #expect(pair.server.network.readCount == reads + 2)
        try pair.server.channel.writeInbound(bytes)
        #expect(pair.server.application.text == "whole")
        // The application has received its data, so the handler does not read again.
        #expect(pair.server.network.readCount == reads + 2)
    }

    @Test func `without autoRead the handshake reads, and data waits for a read`() throws {
        let pair = try TLSPair()
        try pair.connect()
        pair.client.send("early")
        while true {
            let up = try pair.client.sent()
            try pair.server.receive(up, reading: false)
            let down = try pair.server.sent()
            try pair.client.receive(down)
            if up.readableBytes + down.readableBytes == 0 { break }
        }
        #expect(pair.server.network.readCount >= 1)
        #expect(pair.server.application.handshakes.count == 1)
        #expect(pair.server.application.text == "")
        pair.server.channel.read()
        #expect(pair.server.application.text == "early")
    }

    @Test func `unread data is delivered before the end of the connection`() throws {
        let pair = try TLSPair.connected()
        pair.client.send("first, ")
        try pair.server.receive(pair.client.sent())
        pair.client.send("last words")
        try pair.client.channel.close().wait()
        try pair.server.receive(pair.client.sent(), reading: false)
        #expect(pair.server.application.text == "first, ")
        pair.server.network.drop()
        #expect(pair.server.application.text == "first, last words")
        #expect(pair.server.application.errors.isEmpty)
        #expect(pair.server.application.isInactive)
    }

    @Test func `an answer written during a read is sent`() throws {
        let pair = try TLSPair.connected()
        pair.server.application.onRead = { context, data in
            context.writeAndFlush(NIOAny(ByteBuffer(string: "pong")), promise: nil)
        }
        pair.client.send("ping")
        try pair.exchange()
        #expect(pair.client.application.text == "pong")
    }

    @Test func `a changed byte anywhere in a record ends the connection with an alert`() throws {
        var numbers = Random(seed: 3)
        for _ in 0..<50 {
            let pair = try TLSPair.connected()
            pair.client.send("the quick brown fox")
            var bytes = try pair.client.sent()
            // The header (5 bytes) is not changed. With another length in the header the server would wait for more.
            let index = Int.random(in: 5..<bytes.readableBytes, using: &numbers)
            let old = try #require(bytes.getInteger(at: index, as: UInt8.self))
            bytes.setInteger(old ^ UInt8.random(in: 1...255, using: &numbers), at: index)
            let waiting = pair.server.channel.write(ByteBuffer(string: "unflushed"))
            try pair.server.receive(bytes)
            #expect(pair.server.application.codes == [.connectionFailed])
            #expect(pair.server.application.text == "")
            #expect(!pair.server.channel.isActive)
            #expect(throws: NIOOpenSSLError(.connectionFailed)) { try waiting.wait() }
            try pair.client.receive(pair.server.sent())
            #expect((pair.client.application.errors.first as? NIOOpenSSLError)?.cause?.code == .alertReceived)
        }
    }

    @Test func `a record longer than allowed ends the connection`() throws {
        let pair = try TLSPair.connected()
        // The maximum length is 2^14 + 256 (RFC 8446 section 5.2).
        let length = 16_384 + 257
        try pair.server.receive(ByteBuffer(bytes: [0x17, 3, 3, UInt8(length >> 8), UInt8(length & 255)]))
        #expect(pair.server.application.codes == [.connectionFailed])
        #expect(!pair.server.channel.isActive)
    }

    @Test func `a close during the read of data causes no error`() throws {
        let pair = try TLSPair.connected()
        pair.server.application.onRead = { context, _ in context.close(promise: nil) }
        pair.client.send("a")
        pair.client.send("b")
        try pair.client.channel.close().wait()
        try pair.exchange()
        #expect(pair.server.application.errors.isEmpty)
        #expect(pair.server.application.isInactive)
    }

    @Test func `a close during the handshake event causes no error`() throws {
        let pair = try TLSPair()
        pair.server.application.onHandshake = { context in context.close(promise: nil) }
        let written = pair.server.send("x")
        try pair.connect()
        try pair.exchange()
        #expect(pair.server.application.isInactive)
        #expect(pair.server.application.errors.isEmpty)
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
