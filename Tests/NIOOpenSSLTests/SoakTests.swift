// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import Foundation
import NIOCore
import NIOEmbedded
import OpenSSLKit
import SeededRandom
import TLSTesting
import Testing

@testable import NIOOpenSSL

/// Connections of all kinds and with all kinds of ends, GATEHOUSE_SOAK of them; see `make soak`.
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
            // The first tenth fills caches and pools.
            if index == Self.count / 10 { first = Self.residentBytes() }
            let kind = Kind.allCases.randomElement(using: &numbers) ?? .complete
            try run(kind, soak, &numbers)
            soak.loop.advanceTime(by: .seconds(3))
        }
        let last = Self.residentBytes()
        print("soak: \(Self.count) connections, \(first >> 10) KiB after a tenth, \(last >> 10) KiB at the end")
        #expect(soak.resumed > 0 || Self.count < 100)
        // A leak of 200 bytes per connection would be 18 MB in 100,000.
        #expect(last - first < max(16 << 20, Self.count * 160))
    }

    private func run(_ kind: Kind, _ soak: Soak, _ numbers: inout Random) throws {
        let piece = Int.random(in: 1...4_000, using: &numbers)
        let wire = try soak.wire(isCertified: kind == .certificate)
        switch kind {
        case .complete, .resumed, .certificate:
            let resumes = kind != .complete
            if resumes { try soak.resume(wire) }
            try wire.connect()
            try wire.pump(piece: { piece })
            wire.client.send("request")
            try wire.pump()
            wire.server.send(String(repeating: "answer", count: Int.random(in: 1...5_000, using: &numbers)))
            try wire.pump(piece: { piece })
            #expect(wire.server.application.text == "request")
            try soak.keep(wire)
            wire.server.channel.close(promise: nil)
            try wire.pump()
        case .abort:
            try wire.connect()
            var left = Int.random(in: 0...2_500, using: &numbers)
            for _ in 0..<6 where left > 0 {
                var up = try wire.client.sent()
                let part = up.readSlice(length: min(left, up.readableBytes)) ?? ByteBuffer()
                left -= part.readableBytes
                try wire.server.take(part)
                try wire.client.take(wire.server.sent())
            }
            _ = wire.server.send("lost")
            wire.server.network.drop()
        case .garbage:
            try wire.server.connect()
            try wire.server.take(ByteBuffer(bytes: numbers.bytes(piece)), piece: { piece })
        case .changed:
            try wire.connect()
            try wire.pump()
            wire.client.send("request")
            var bytes = try wire.client.sent()
            bytes.setInteger(UInt8(piece & 255), at: min(bytes.readableBytes - 1, 5 + piece % 20))
            try wire.server.take(bytes)
        case .halfClose:
            wire.server.channel.allowRemoteHalfClosure = true
            try wire.connect()
            wire.client.send("request")
            wire.client.channel.close(mode: .output, promise: nil)
            try wire.pump()
            wire.server.send("answer")
            if piece % 2 == 0 { wire.server.channel.close(mode: .output, promise: nil) }
            try wire.pump()
        case .keyUpdate:
            try wire.connect()
            try wire.pump()
            for _ in 0..<Int.random(in: 1...5, using: &numbers) {
                let handler = try wire.client.channel.pipeline.syncOperations.handler(type: OpenSSLClientHandler.self)
                try handler.connection?.updateKeys(askingPeer: piece % 2 == 0)
                wire.client.send("request")
                try wire.pump()
            }
        case .drop:
            try wire.connect()
            try wire.pump()
            wire.client.send("request")
            wire.server.channel.write(ByteBuffer(string: "never flushed"), promise: nil)
            let bytes = try wire.client.sent()
            try wire.server.take(bytes.getSlice(at: 0, length: min(piece, bytes.readableBytes)) ?? bytes)
            wire.server.network.drop()
        case .deadline:
            try wire.connect()
            if piece % 2 == 0 { try wire.server.take(wire.client.sent()) }
            wire.loop.advanceTime(by: .seconds(11))
            #expect(!wire.server.channel.isActive)
        }
        wire.client.network.drop()
        wire.server.network.drop()
    }

    private static func residentBytes() -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * 4_096
    }
}

/// The contexts of the soak, and the sessions to resume.
private final class Soak {
    let loop = EmbeddedEventLoop()
    private(set) var resumed = 0
    private let servers: [TLSContext]
    private let clients: [TLSContext]
    private var sessions: [TLSSession?] = [nil, nil]
    private var wireKind = 0

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

    func wire(isCertified: Bool) throws -> Wire {
        wireKind = isCertified ? 1 : 0
        return try Wire(loop: loop, serverContext: servers[wireKind], clientContext: clients[wireKind])
    }

    func resume(_ wire: Wire) throws {
        guard let session = sessions[wireKind] else { return }
        try connection(wire.client, OpenSSLClientHandler.self)?.resume(session)
    }

    /// Keeps the session for the next connection of its kind.
    func keep(_ wire: Wire) throws {
        sessions[wireKind] = try connection(wire.client, OpenSSLClientHandler.self)?.session()
        guard let server = try connection(wire.server, OpenSSLServerHandler.self) else { return }
        if server.info.isResumed { resumed += 1 }
        #expect(server.verifiedPeerChain().count == (wireKind == 1 ? 3 : 0))
    }

    private func connection<H: OpenSSLHandler>(_ side: Side, _ type: H.Type) throws -> TLSConnection? {
        try side.channel.pipeline.syncOperations.handler(type: type).connection
    }
}
