// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import NIOCore
import NIOEmbedded
import OpenSSLKit
import Testing

@testable import NIOOpenSSL

@Suite(.serialized) struct BufferTests {
    private func handler(_ wire: Wire) throws -> OpenSSLServerHandler {
        try wire.server.channel.pipeline.syncOperations.handler(type: OpenSSLServerHandler.self)
    }

    @Test func `record buffers are kept while records arrive, and released after a quiet time`() throws {
        let wire = try Wire.connected()
        wire.loop.advanceTime(by: .seconds(3))
        let handler = try handler(wire)
        #expect(handler.quietCheck == nil)
        for _ in 0..<5 {
            wire.client.send("x")
            try wire.pump()
            wire.loop.advanceTime(by: .milliseconds(900))
            #expect(handler.quietCheck != nil)
        }
        wire.loop.advanceTime(by: OpenSSLHandler.quietTime + OpenSSLHandler.quietTime)
        #expect(handler.quietCheck == nil)
        wire.client.send("y")
        wire.server.send("z")
        try wire.pump()
        #expect(wire.server.application.text == "xxxxxy")
        #expect(wire.client.application.text == "z")
    }

    @Test func `connections that may not keep their buffers work`() throws {
        var taken = 0
        while BufferPermit.acquire() { taken += 1 }
        defer { for _ in 0..<taken { BufferPermit.release() } }
        let wire = try Wire.connected()
        let handler = try handler(wire)
        for round in 1...3 {
            wire.client.send("up")
            wire.server.send("down")
            try wire.pump(piece: { 3 })
            #expect(handler.quietCheck == nil && !handler.hadRecord, "round \(round)")
        }
        #expect(wire.server.application.text == "upupup")
        #expect(wire.client.application.text == "downdowndown")
    }

    @Test func `a closed connection gives back its permission to keep buffers`() throws {
        func free() -> Int {
            var taken = 0
            while BufferPermit.acquire() { taken += 1 }
            for _ in 0..<taken { BufferPermit.release() }
            return taken
        }
        let before = free()
        for ending in 0..<3 {
            let wire = try Wire.connected()
            wire.client.send("x")
            try wire.pump()
            #expect(free() == before - 2)
            switch ending {
            case 0: wire.client.channel.close(promise: nil)
            case 1: wire.client.network.drop()
            default: try wire.server.take(ByteBuffer(bytes: [0x17, 3, 3, 0xff, 0xff]))
            }
            try wire.pump()
            wire.server.network.drop()
            wire.client.network.drop()
            #expect(free() == before)
        }
    }

    @Test func `the writes of a flush are sent in order, and their promises succeed in order`() throws {
        let wire = try Wire.connected()
        var order: [String] = []
        func write(_ text: String) {
            wire.client.channel.write(ByteBuffer(string: text)).assumeIsolated().whenSuccess { order.append(text) }
        }
        for flush in [["a"], ["b", "c"], ["d", "e", "f", "g", "h", "i"], ["j"]] {
            flush.forEach(write)
            wire.client.channel.flush()
        }
        write("k")
        try wire.pump()
        #expect(wire.server.application.text == "abcdefghij")
        #expect(order.joined() == "abcdefghij")
        wire.client.channel.flush()
        try wire.pump()
        #expect(wire.server.application.text == "abcdefghijk")
    }
}
