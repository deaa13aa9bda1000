// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import NIOOpenSSL
import OpenSSLKit
import SeededRandom
import Testing

@Suite struct HostileInputTests {
    /// Sends bytes to a server, and checks that the server closes the connection by its deadline with one error.
    private func feed(_ bytes: [UInt8], piece: Int = .max) throws {
        let pair = try TLSPair()
        try pair.server.connect()
        try pair.server.receive(ByteBuffer(bytes: bytes), piece: { piece })
        pair.loop.advanceTime(by: .seconds(11))
        #expect(!pair.server.channel.isActive)
        #expect(pair.server.application.codes.count == 1)
        #expect(pair.server.application.handshakes.isEmpty)
        #expect(pair.server.application.readCount == 0)
        pair.loop.run()
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
            let pair = try TLSPair()
            try pair.connect()
            var hello = try pair.client.sent()
            for _ in 0..<Int.random(in: 1...8, using: &numbers) {
                let index = Int.random(in: 0..<hello.readableBytes, using: &numbers)
                hello.setInteger(UInt8.random(in: 0...255, using: &numbers), at: index)
            }
            try pair.server.receive(hello)
            try pair.client.receive(pair.server.sent())
            try pair.server.receive(pair.client.sent())
            pair.loop.advanceTime(by: .seconds(11))
            // A changed byte changes the transcript, so the handshake fails. It succeeds only if the random bytes equal the
            // old bytes.
            if pair.server.application.handshakes.isEmpty {
                #expect(pair.server.application.codes.count == 1)
                #expect(!pair.server.channel.isActive)
            }
            pair.loop.run()
        }
    }

    @Test func `a ClientHello split into records of one byte is accepted`() throws {
        let pair = try TLSPair()
        try pair.connect()
        var hello = try pair.client.sent()
        hello.moveReaderIndex(forwardBy: 5)
        var records = ByteBuffer()
        while let byte = hello.readInteger(as: UInt8.self) {
            records.writeBytes([0x16, 3, 1, 0, 1, byte])
        }
        try pair.server.receive(records)
        try pair.client.receive(pair.server.sent())
        try pair.server.receive(pair.client.sent())
        // Records are not part of the transcript (RFC 8446 section 4.4.1), so the handshake succeeds.
        #expect(pair.server.application.handshakes.count == 1)
    }

    @Test func `random ciphertext ends an open connection`() throws {
        var numbers = Random(seed: 5)
        for _ in 0..<100 {
            let pair = try TLSPair.connected()
            let body = numbers.bytes(Int.random(in: 17...500, using: &numbers))
            let header: [UInt8] = [0x17, 3, 3, UInt8(body.count >> 8), UInt8(body.count & 255)]
            try pair.server.receive(
                ByteBuffer(bytes: header + body),
                piece: { Int.random(in: 1...99, using: &numbers) }
            )
            #expect(pair.server.application.codes == [.connectionFailed])
            #expect(pair.server.application.readCount == 0)
            #expect(!pair.server.channel.isActive)
            pair.loop.run()
        }
    }

    @Test func `a record sent twice ends the connection`() throws {
        let pair = try TLSPair.connected()
        pair.client.send("once")
        let bytes = try pair.client.sent()
        try pair.server.receive(bytes)
        try pair.server.receive(bytes)
        #expect(pair.server.application.text == "once")
        #expect(pair.server.application.codes == [.connectionFailed])
    }
}
