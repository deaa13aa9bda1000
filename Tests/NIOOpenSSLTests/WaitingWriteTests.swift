// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import Foundation
import NIOCore
import NIOEmbedded
import TLSTesting
import Testing

@testable import NIOOpenSSL
@testable import OpenSSLKit

/// Writes that wait because OpenSSL does not encrypt while a handshake message of the peer is incomplete.
@Suite(.enabled(if: TestPKI.isPossible, "needs the openssl command"))
struct WaitingWriteTests {
    /// Connects until the server's ticket is sent, which is longer than a record because it contains the client's
    /// certificate.
    private func wire() throws -> (wire: Wire, tickets: ByteBuffer) {
        let pki = try TestPKI.shared.get()
        let policy = try ClientCertificatePolicy(mode: .required, authorities: pki.certificates("root"))
        let server = TLSConfiguration.server(
            try pki.identity("server"),
            sessionTickets: try SessionTicketKeys(now: { Int64(Date().timeIntervalSince1970) }),
            clientCertificates: policy
        )
        let wire = try Wire(serverContext: TLSContext(server), clientContext: TLSContext(pki.client("client")))
        let handler = try wire.server.channel.pipeline.syncOperations.handler(type: OpenSSLServerHandler.self)
        #expect(handler.connection?.limitRecords(to: 512) == true)
        try wire.connect()
        try wire.server.take(wire.client.sent())
        try wire.client.take(wire.server.sent())
        try wire.server.take(wire.client.sent())
        return (wire, try wire.server.sent())
    }

    @Test(arguments: [1, 3])
    func `a write during an incomplete handshake message is sent after the message`(count: Int) throws {
        var (wire, tickets) = try wire()
        let size = Int(try #require(tickets.getInteger(at: tickets.readerIndex + 3, as: UInt16.self)))
        let record = tickets.readSlice(length: 5 + size)
        try wire.client.take(#require(record))
        let futures = (0..<count).map { wire.client.channel.write(ByteBuffer(string: "part \($0),")) }
        wire.client.channel.flush()
        #expect(try wire.client.sent().readableBytes == 0)
        let handler = try wire.client.channel.pipeline.syncOperations.handler(type: OpenSSLClientHandler.self)
        #expect(handler.pendingWrites.hasFlushedData)
        // Later writes stay behind it.
        wire.client.send("last")
        try wire.client.take(tickets)
        try wire.pump()
        #expect(wire.server.application.text == (0..<count).map { "part \($0)," }.joined() + "last")
        for future in futures { try future.wait() }
        #expect(wire.client.application.errors.isEmpty)
    }

    @Test func `a half-close during an incomplete handshake message is sent after the data`() throws {
        var (wire, tickets) = try wire()
        wire.server.channel.allowRemoteHalfClosure = true
        let record = tickets.readSlice(length: 100)
        try wire.client.take(#require(record))
        let rest = tickets.readSlice(length: 500)
        try wire.client.take(#require(rest))
        wire.client.send("data")
        let closed = wire.client.channel.close(mode: .output)
        try wire.client.take(tickets)
        try wire.pump()
        try closed.wait()
        #expect(wire.server.application.text == "data")
        #expect(wire.server.application.inputClosedCount == 1)
    }
}
