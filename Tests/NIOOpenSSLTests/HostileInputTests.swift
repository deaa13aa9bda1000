// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import NIOCore
import NIOEmbedded
import NIOOpenSSL
import OpenSSLKit
import SeededRandom
import Testing

@Suite struct HostileInputTests {
    /// Checks that these bytes, or its deadline, close a server, and that it reports one error.
    private func feed(_ bytes: [UInt8], piece: Int = .max) throws {
        let wire = try Wire()
        try wire.server.connect()
        try wire.server.take(ByteBuffer(bytes: bytes), piece: { piece })
        wire.loop.advanceTime(by: .seconds(11))
        #expect(!wire.server.channel.isActive)
        #expect(wire.server.application.codes.count == 1)
        #expect(wire.server.application.handshakes.isEmpty)
        #expect(wire.server.application.readCount == 0)
        wire.loop.run()
    }

    @Test func `random bytes end the handshake with one error`() throws {
        var numbers = Random(seed: 1)
        for _ in 0..<500 {
            try feed(numbers.bytes(Int.random(in: 0...600, using: &numbers)))
        }
    }

    @Test func `random bytes after a record header end the handshake with one error`() throws {
        var numbers = Random(seed: 2)
        for _ in 0..<500 {
            let body = numbers.bytes(Int.random(in: 0...400, using: &numbers))
            let type = UInt8.random(in: 0x14...0x18, using: &numbers)
            let header = [
                type, 3, UInt8.random(in: 0...4, using: &numbers), UInt8(body.count >> 8), UInt8(body.count & 255),
            ]
            try feed(header + body, piece: Int.random(in: 1...64, using: &numbers))
        }
    }

    @Test func `a changed ClientHello completes the handshake or ends it with one error`() throws {
        var numbers = Random(seed: 4)
        for _ in 0..<600 {
            let wire = try Wire()
            try wire.connect()
            var hello = try wire.client.sent()
            for _ in 0..<Int.random(in: 1...8, using: &numbers) {
                let index = Int.random(in: 0..<hello.readableBytes, using: &numbers)
                hello.setInteger(UInt8.random(in: 0...255, using: &numbers), at: index)
            }
            try wire.server.take(hello)
            try wire.client.take(wire.server.sent())
            try wire.server.take(wire.client.sent())
            wire.loop.advanceTime(by: .seconds(11))
            // Even a change of the hello without another effect changes the transcript, so the handshake fails.
            if wire.server.application.handshakes.isEmpty {
                #expect(wire.server.application.codes.count == 1)
                #expect(!wire.server.channel.isActive)
            }
            wire.loop.run()
        }
    }

    @Test func `a ClientHello split into records of one byte is accepted`() throws {
        let wire = try Wire()
        try wire.connect()
        var hello = try wire.client.sent()
        hello.moveReaderIndex(forwardBy: 5)
        var records = ByteBuffer()
        while let byte = hello.readInteger(as: UInt8.self) {
            records.writeBytes([0x16, 3, 1, 0, 1, byte])
        }
        try wire.server.take(records)
        try wire.client.take(wire.server.sent())
        try wire.server.take(wire.client.sent())
        // The transcript consists of messages, not of records (RFC 8446 section 4.4.1).
        #expect(wire.server.application.handshakes.count == 1)
    }

    @Test func `random ciphertext ends an open connection`() throws {
        var numbers = Random(seed: 5)
        for _ in 0..<100 {
            let wire = try Wire.connected()
            let body = numbers.bytes(Int.random(in: 17...500, using: &numbers))
            let header: [UInt8] = [0x17, 3, 3, UInt8(body.count >> 8), UInt8(body.count & 255)]
            try wire.server.take(ByteBuffer(bytes: header + body), piece: { Int.random(in: 1...99, using: &numbers) })
            #expect(wire.server.application.codes == [.connectionFailed])
            #expect(wire.server.application.readCount == 0)
            #expect(!wire.server.channel.isActive)
            wire.loop.run()
        }
    }

    @Test func `a record sent twice ends the connection`() throws {
        let wire = try Wire.connected()
        wire.client.send("once")
        let bytes = try wire.client.sent()
        try wire.server.take(bytes)
        try wire.server.take(bytes)
        #expect(wire.server.application.text == "once")
        #expect(wire.server.application.codes == [.connectionFailed])
    }
}
