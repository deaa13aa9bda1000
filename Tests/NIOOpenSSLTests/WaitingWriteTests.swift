// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import NIOEmbedded
import OpenSSLKit
import TLSTesting
import Testing

@testable import NIOOpenSSL

/// Writes during an incomplete handshake message of the peer.
///
/// The writes must wait, because OpenSSL encrypts nothing until it has read the whole message.
@Suite(.enabled(if: TestPKI.isPossible, "needs the openssl command"))
struct WaitingWriteTests {
    /// Connects a client and a server, and returns the server's tickets before they are delivered.
    ///
    /// A ticket is longer than a record, because it contains the client's certificate.
    private func pair() throws -> (pair: TLSPair, tickets: ByteBuffer) {
        let pki = try TestPKI.shared.get()
        let policy = try ClientCertificatePolicy(mode: .required, authorities: pki.certificates("root"))
        let server = TLSConfiguration.server(
            try pki.identity("server"),
            sessionTickets: try SessionTicketKeys(now: { Int64(Date().timeIntervalSince1970) }),
            clientCertificates: policy
        )
        let pair = try TLSPair(serverContext: TLSContext(server), clientContext: TLSContext(pki.client("client")))
        let handler = try pair.server.channel.pipeline.syncOperations.handler(type: OpenSSLHandler.self)
        #expect(handler.connection?.limitRecords(to: 512) == true)
        try pair.connect()
        try pair.server.receive(pair.client.sent())
        try pair.client.receive(pair.server.sent())
        try pair.server.receive(pair.client.sent())
        return (pair, try pair.server.sent())
    }

    @Test(arguments: [1, 3])
    func `a write during an incomplete handshake message is sent after the message`(count: Int) throws {
        var (pair, tickets) = try pair()
        let size = Int(try #require(tickets.getInteger(at: tickets.readerIndex + 3, as: UInt16.self)))
        let record = tickets.readSlice(length: 5 + size)
        try pair.client.receive(#require(record))
        let futures = (0..<count).map { pair.client.channel.write(ByteBuffer(string: "part \($0),")) }
        pair.client.channel.flush()
        #expect(try pair.client.sent().readableBytes == 0)
        let handler = try pair.client.channel.pipeline.syncOperations.handler(type: OpenSSLHandler.self)
        #expect(handler.pendingWrites.hasFlushedData)
        // Later writes are sent after the waiting writes.
        pair.client.send("last")
        try pair.client.receive(tickets)
        try pair.exchange()
        #expect(pair.server.application.text == (0..<count).map { "part \($0)," }.joined() + "last")
        for future in futures { try future.wait() }
        #expect(pair.client.application.errors.isEmpty)
    }

    @Test func `a half-close that is requested during an incomplete handshake message follows the data`() throws {
        var (pair, tickets) = try pair()
        pair.server.channel.allowRemoteHalfClosure = true
        let record = tickets.readSlice(length: 100)
        try pair.client.receive(#require(record))
        let rest = tickets.readSlice(length: 500)
        try pair.client.receive(#require(rest))
        pair.client.send("data")
        let closed = pair.client.channel.close(mode: .output)
        try pair.client.receive(tickets)
        try pair.exchange()
        try closed.wait()
        #expect(pair.server.application.text == "data")
        #expect(pair.server.application.inputClosedCount == 1)
    }
}
