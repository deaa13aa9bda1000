// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import OpenSSLKit
import Testing

@testable import NIOOpenSSL

@Suite(.serialized) struct RecordBufferTests {
    private func handler(_ pair: TLSPair) throws -> OpenSSLHandler {
        try pair.server.channel.pipeline.syncOperations.handler(type: OpenSSLHandler.self)
    }

    @Test func `record buffers are kept while records arrive, and released after a quiet time`() throws {
        let pair = try TLSPair.connected()
        pair.loop.advanceTime(by: .seconds(3))
        let handler = try handler(pair)
        #expect(handler.quietCheck == nil)
        for _ in 0..<5 {
            pair.client.send("x")
            try pair.exchange()
            pair.loop.advanceTime(by: .milliseconds(900))
            #expect(handler.quietCheck != nil)
        }
        pair.loop.advanceTime(by: OpenSSLHandler.quietTime + OpenSSLHandler.quietTime)
        #expect(handler.quietCheck == nil)
        pair.client.send("y")
        pair.server.send("z")
        try pair.exchange()
        #expect(pair.server.application.text == "xxxxxy")
        #expect(pair.client.application.text == "z")
    }

    @Test func `connections without permission to keep their buffers work`() throws {
        var acquired = 0
        while BufferPermit.acquire() { acquired += 1 }
        defer { for _ in 0..<acquired { BufferPermit.release() } }
        let pair = try TLSPair.connected()
        let handler = try handler(pair)
        for round in 1...3 {
            pair.client.send("up")
            pair.server.send("down")
            try pair.exchange(piece: { 3 })
            #expect(handler.quietCheck == nil && !handler.hadRecord, "round \(round)")
        }
        #expect(pair.server.application.text == "upupup")
        #expect(pair.client.application.text == "downdowndown")
    }

    @Test func `a closed connection gives back its permission to keep buffers`() throws {
        func free() -> Int {
            var acquired = 0
            while BufferPermit.acquire() { acquired += 1 }
            for _ in 0..<acquired { BufferPermit.release() }
            return acquired
        }
        let before = free()
        for ending in 0..<3 {
            let pair = try TLSPair.connected()
            pair.client.send("x")
            try pair.exchange()
            #expect(free() == before - 2)
            switch ending {
            case 0: pair.client.channel.close(promise: nil)
            case 1: pair.client.network.drop()
            default: try pair.server.receive(ByteBuffer(bytes: [0x17, 3, 3, 0xff, 0xff]))
            }
            try pair.exchange()
            pair.server.network.drop()
            pair.client.network.drop()
            #expect(free() == before)
        }
    }

    @Test func `the writes of a flush are sent in order, and their promises succeed in order`() throws {
        let pair = try TLSPair.connected()
        var order: [String] = []
        func write(_ text: String) {
            pair.client.channel.write(ByteBuffer(string: text)).assumeIsolated().whenSuccess { order.append(text) }
        }
        for flush in [["a"], ["b", "c"], ["d", "e", "f", "g", "h", "i"], ["j"]] {
            flush.forEach(write)
            pair.client.channel.flush()
        }
        write("k")
        try pair.exchange()
        #expect(pair.server.application.text == "abcdefghij")
        #expect(order.joined() == "abcdefghij")
        pair.client.channel.flush()
        try pair.exchange()
        #expect(pair.server.application.text == "abcdefghijk")
    }
}
