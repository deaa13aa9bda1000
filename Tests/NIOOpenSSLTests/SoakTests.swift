// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import NIOEmbedded
import OpenSSLKit
import SeededRandom
import TLSTesting
import Testing

@testable import NIOOpenSSL

/// Runs many connections of all kinds, to find leaks.
///
/// `make soak` sets the number of connections in GATEHOUSE_SOAK.
@Suite(.serialized) struct SoakTests {
    private static let count = ProcessInfo.processInfo.environment["GATEHOUSE_SOAK"].flatMap { Int($0) } ?? 0

    private enum Kind: CaseIterable {
        case complete, resumed, certificate, abort, garbage, changed, halfClose, keyUpdate, drop, deadline
    }

    @Test(.enabled(if: count > 0 && TestPKI.isPossible, "set GATEHOUSE_SOAK to a number of connections"))
    func `memory does not grow with the number of connections`() throws {
        var numbers = Random(seed: 2_026)
        let soak = try Soak()
        var first = 0
        for index in 0..<Self.count {
            // Caches and pools are filled during the first tenth.
            if index == Self.count / 10 { first = Self.residentBytes() }
            let kind = Kind.allCases.randomElement(using: &numbers) ?? .complete
            try run(kind, soak, &numbers)
            soak.loop.advanceTime(by: .seconds(3))
        }
        let last = Self.residentBytes()
        print("soak: \(Self.count) connections, \(first >> 10) KiB after a tenth, \(last >> 10) KiB at the end")
        #expect(soak.resumed > 0 || Self.count < 100)
        // A leak of 200 bytes per connection would grow to 18 MB in the last 90,000 of 100,000 connections.
        #expect(last - first < max(16 << 20, Self.count * 160))
    }

    private func run(_ kind: Kind, _ soak: Soak, _ numbers: inout Random) throws {
        let piece = Int.random(in: 1...4_000, using: &numbers)
        let pair = try soak.pair(isCertified: kind == .certificate)
        switch kind {
        case .complete, .resumed, .certificate:
            let resumes = kind != .complete
            if resumes { try soak.resume(pair) }
            try pair.connect()
            try pair.exchange(piece: { piece })
            pair.client.send("request")
            try pair.exchange()
            pair.server.send(String(repeating: "answer", count: Int.random(in: 1...5_000, using: &numbers)))
            try pair.exchange(piece: { piece })
            #expect(pair.server.application.text == "request")
            try soak.keep(pair)
            pair.server.channel.close(promise: nil)
            try pair.exchange()
        case .abort:
            try pair.connect()
            var left = Int.random(in: 0...2_500, using: &numbers)
            for _ in 0..<6 where left > 0 {
                var up = try pair.client.sent()
                let part = up.readSlice(length: min(left, up.readableBytes)) ?? ByteBuffer()
                left -= part.readableBytes
                try pair.server.receive(part)
                try pair.client.receive(pair.server.sent())
            }
            _ = pair.server.send("lost")
            pair.server.network.drop()
        case .garbage:
            try pair.server.connect()
            try pair.server.receive(ByteBuffer(bytes: numbers.bytes(piece)), piece: { piece })
        case .changed:
            try pair.connect()
            try pair.exchange()
            pair.client.send("request")
            var bytes = try pair.client.sent()
            bytes.setInteger(UInt8(piece & 255), at: min(bytes.readableBytes - 1, 5 + piece % 20))
            try pair.server.receive(bytes)
        case .halfClose:
            pair.server.channel.allowRemoteHalfClosure = true
            try pair.connect()
            pair.client.send("request")
            pair.client.channel.close(mode: .output, promise: nil)
            try pair.exchange()
            pair.server.send("answer")
            if piece % 2 == 0 { pair.server.channel.close(mode: .output, promise: nil) }
            try pair.exchange()
        case .keyUpdate:
            try pair.connect()
            try pair.exchange()
            for _ in 0..<Int.random(in: 1...5, using: &numbers) {
                let handler = try pair.client.channel.pipeline.syncOperations.handler(type: OpenSSLHandler.self)
                try handler.connection?.updateKeys(askingPeer: piece % 2 == 0)
                pair.client.send("request")
                try pair.exchange()
            }
        case .drop:
            try pair.connect()
            try pair.exchange()
            pair.client.send("request")
            pair.server.channel.write(ByteBuffer(string: "never flushed"), promise: nil)
            let bytes = try pair.client.sent()
            try pair.server.receive(bytes.getSlice(at: 0, length: min(piece, bytes.readableBytes)) ?? bytes)
            pair.server.network.drop()
        case .deadline:
            try pair.connect()
            if piece % 2 == 0 { try pair.server.receive(pair.client.sent()) }
            pair.loop.advanceTime(by: .seconds(11))
            #expect(!pair.server.channel.isActive)
        }
        pair.client.network.drop()
        pair.server.network.drop()
    }

    private static func residentBytes() -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * 4_096
    }
}

/// The contexts of the soak test, and the sessions that are resumed.
private final class Soak {
    let loop = EmbeddedEventLoop()
    private(set) var resumed = 0
    private let servers: [TLSContext]
    private let clients: [TLSContext]
    private var sessions: [TLSSession?] = [nil, nil]
    private var pairKind = 0

    init() throws {
        let pki = try TestPKI.shared.get()
        let keys = try SessionTicketKeys(now: { Int64(Date().timeIntervalSince1970) })
        var plain = TLSConfiguration.server(
            try pki.identity("server", ocsp: "server.ocsp"),
            applicationProtocols: ["http/1.1"],
            sessionTickets: keys
        )
        plain.hosts = [TLSHost(names: ["other.test"], identity: try pki.identity("other"))]
        var certified = plain
        certified.clientCertificates = try ClientCertificatePolicy(
            mode: .required,
            authorities: pki.certificates("root"),
            revocationLists: pki.lists("all.crl")
        )
        servers = [try TLSContext(plain), try TLSContext(certified)]
        clients = [try TLSContext(pki.client()), try TLSContext(pki.client("client"))]
    }

    func pair(isCertified: Bool) throws -> TLSPair {
        pairKind = isCertified ? 1 : 0
        return try TLSPair(loop: loop, serverContext: servers[pairKind], clientContext: clients[pairKind])
    }

    func resume(_ pair: TLSPair) throws {
        guard let session = sessions[pairKind] else { return }
        try connection(pair.client)?.resume(session)
    }

    /// Stores the session for the next connection of the same kind.
    func keep(_ pair: TLSPair) throws {
        sessions[pairKind] = try connection(pair.client)?.session()
        guard let server = try connection(pair.server) else { return }
        if server.info.isResumed { resumed += 1 }
        #expect(server.verifiedPeerChain().count == (pairKind == 1 ? 3 : 0))
    }

    private func connection(_ side: Endpoint) throws -> TLSConnection? {
        try side.channel.pipeline.syncOperations.handler(type: OpenSSLHandler.self).connection
    }
}
