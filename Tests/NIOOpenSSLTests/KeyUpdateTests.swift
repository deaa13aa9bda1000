// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import OpenSSLKit
import TLSTesting
import Testing

@testable import NIOOpenSSL

@Suite struct KeyUpdateTests {
    /// Lets the client update its keys and request that the server also updates its keys.
    private func updateKeys(_ pair: TLSPair) throws {
        let handler = try pair.client.channel.pipeline.syncOperations.handler(type: OpenSSLHandler.self)
        try #require(handler.connection).updateKeys(askingPeer: true)
        pair.client.send(".")
    }

    @Test func `key updates are answered, and later data is encrypted with the new keys`() throws {
        let pair = try TLSPair.connected()
        for _ in 0..<40 {
            try updateKeys(pair)
            try pair.exchange()
            pair.server.send("+")
            try pair.exchange()
        }
        #expect(pair.server.application.text == String(repeating: ".", count: 40))
        #expect(pair.client.application.text == String(repeating: "+", count: 40))
        #expect(pair.server.application.errors.isEmpty)
    }

    @Test func `a peer that requests key updates and reads nothing is disconnected`() throws {
        let pair = try TLSPair.connected()
        pair.server.channel.isWritable = false
        var rounds = 0
        while pair.server.channel.isActive, rounds < 2_000 {
            try updateKeys(pair)
            try pair.server.receive(pair.client.sent())
            rounds += 1
        }
        #expect((100..<1_000).contains(rounds))
        #expect(pair.server.application.codes == [.unreadAnswers])
    }

    @Test func `a peer that sends many key updates without data is disconnected`() throws {
        for pieces in [1, 4000] {
            let pair = try TLSPair.connected()
            let handler = try pair.client.channel.pipeline.syncOperations.handler(type: OpenSSLHandler.self)
            let connection = try #require(handler.connection)
            var bytes: [UInt8] = []
            for _ in 0..<4000 {
                try connection.updateKeys(askingPeer: false)
                bytes += connection.takeUnsent()
            }
            let size = (bytes.count + pieces - 1) / pieces
            for start in stride(from: 0, to: bytes.count, by: size) where pair.server.channel.isActive {
                try pair.server.receive(ByteBuffer(bytes: bytes[start..<min(bytes.count, start + size)]))
            }
            #expect(!pair.server.channel.isActive)
            #expect(pair.server.application.codes == [.connectionFailed])
        }
    }

    @Test func `a peer that requests key updates and reads stays connected`() throws {
        let pair = try TLSPair.connected()
        for _ in 0..<1_000 {
            try updateKeys(pair)
            try pair.exchange()
        }
        #expect(pair.server.channel.isActive)
        #expect(pair.server.application.errors.isEmpty)
    }
}
