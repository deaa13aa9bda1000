// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import NIOCore
import NIOEmbedded
import OpenSSLKit
import Testing

@testable import NIOOpenSSL

@Suite struct KeyUpdateTests {
    /// Makes the client update its keys and request the same of the server.
    private func updateKeys(_ wire: Wire) throws {
        let handler = try wire.client.channel.pipeline.syncOperations.handler(type: OpenSSLClientHandler.self)
        try #require(handler.connection).updateKeys(askingPeer: true)
        wire.client.send(".")
    }

    @Test func `key updates are answered, and data continues under the new keys`() throws {
        let wire = try Wire.connected()
        for _ in 0..<40 {
            try updateKeys(wire)
            try wire.pump()
            wire.server.send("+")
            try wire.pump()
        }
        #expect(wire.server.application.text == String(repeating: ".", count: 40))
        #expect(wire.client.application.text == String(repeating: "+", count: 40))
        #expect(wire.server.application.errors.isEmpty)
    }

    @Test func `a peer that requests key updates and reads nothing is disconnected`() throws {
        let wire = try Wire.connected()
        wire.server.channel.isWritable = false
        var rounds = 0
        while wire.server.channel.isActive, rounds < 2_000 {
            try updateKeys(wire)
            try wire.server.take(wire.client.sent())
            rounds += 1
        }
        #expect((100..<1_000).contains(rounds))
        #expect(wire.server.application.codes == [.unreadAnswers])
    }

    @Test func `a peer that sends many key updates without data is disconnected`() throws {
        for pieces in [1, 4000] {
            let wire = try Wire.connected()
            let handler = try wire.client.channel.pipeline.syncOperations.handler(type: OpenSSLClientHandler.self)
            let connection = try #require(handler.connection)
            var bytes: [UInt8] = []
            for _ in 0..<4000 {
                try connection.updateKeys(askingPeer: false)
                bytes += connection.takeUnsent()
            }
            let size = (bytes.count + pieces - 1) / pieces
            for start in stride(from: 0, to: bytes.count, by: size) where wire.server.channel.isActive {
                try wire.server.take(ByteBuffer(bytes: bytes[start..<min(bytes.count, start + size)]))
            }
            #expect(!wire.server.channel.isActive)
            #expect(wire.server.application.codes == [.connectionFailed])
        }
    }

    @Test func `a peer that requests key updates and reads stays connected`() throws {
        let wire = try Wire.connected()
        for _ in 0..<1_000 {
            try updateKeys(wire)
            try wire.pump()
        }
        #expect(wire.server.channel.isActive)
        #expect(wire.server.application.errors.isEmpty)
    }
}
