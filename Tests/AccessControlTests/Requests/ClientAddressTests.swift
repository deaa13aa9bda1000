// SPDX-License-Identifier: Apache-2.0

import Bytes
import RealmKit
import SeededRandom
import Testing

@testable import AccessControl

struct ClientAddressTests {
    private static func blocks(_ texts: String...) throws -> [CIDRBlock] { try texts.map { try CIDRBlock($0) } }

    private func find(
        _ peer: String?,
        _ fields: String...,
        trusted: [CIDRBlock]? = nil
    ) throws -> Result<String?, TrustedProxies.BadField> {
        let proxies = TrustedProxies(try trusted ?? Self.blocks("10.0.0.0/8", "::1", "2001:db8::/32"))
        return Result { () throws(TrustedProxies.BadField) in
            try proxies.address(of: peer, forwarded: fields.map { UTF8Text($0) })
        }
    }

    @Test(
        arguments: [
            // Without a field, the peer is the client.
            ([], "10.0.0.1"), (["192.0.2.1"], "192.0.2.1"), (["192.0.2.1, 10.0.0.2"], "192.0.2.1"),
            (["192.0.2.1", "10.0.0.2 ,\t10.0.0.3"], "192.0.2.1"),
            // If all addresses are trusted, the leftmost address is the client.
            (["10.0.0.3,10.0.0.2"], "10.0.0.3"), (["10.0.0.3", "10.0.0.2"], "10.0.0.3"),
            // Entries to the left of the client address are not read.
            (["203.0.113.9, 192.0.2.1, 10.0.0.2"], "192.0.2.1"), (["unknown, 192.0.2.1"], "192.0.2.1"),
            (["192.0.2.1:4711"], "192.0.2.1"), (["[2001:DB9::0001]:443"], "2001:db9::1"),
            (["[2001:db9::1]"], "2001:db9::1"),
            (["2001:db9:0::1"], "2001:db9::1"), (["::ffff:192.0.2.1"], "192.0.2.1"),
            (["192.0.2.1, [2001:db8::5]:1, ::ffff:10.0.0.9, ::1"], "192.0.2.1"),
        ] as [([String], String)]
    )
    func `the client is the rightmost address that is not a trusted proxy`(fields: [String], client: String) throws {
        let proxies = TrustedProxies(try Self.blocks("10.0.0.0/8", "::1", "2001:db8::/32"))
        #expect(try proxies.address(of: "10.0.0.1", forwarded: fields.map { UTF8Text($0) }) == client)
    }

    @Test(
        arguments: [
            "unknown", "_hidden", "", ",", "192.0.2.1,", "192.0.2.1, ,10.0.0.2", "for=192.0.2.1", "\"192.0.2.1\"",
            "192.0.2.1 10.0.0.2",
            "192.0.2", "192.0.2.01", "192.0.2.1:", "192.0.2.1:x", "192.0.2.1:65536", "192.0.2.1:+1", "[192.0.2.1]",
            "[::1", "::1]",
            "[::1]:", "[::1]x", "[fe80::1%eth0]", "fe80::1%eth0", "localhost", "10.0.0.2/8", "é", "192.0.2.1\u{A0}",
        ]
    )
    func `CVE-2024-47070: a forwarded address that cannot be parsed is rejected`(field: String) throws {
        guard case .failure(let bad) = try find("10.0.0.1", field) else {
            Issue.record("\(field) was read")
            return
        }
        #expect(!bad.reason.isEmpty)
    }

    @Test func `a forwarded list with too many addresses or bytes is rejected`() throws {
        let fifty = Array(repeating: "10.0.0.2", count: 50).joined(separator: ",")
        #expect(try find("10.0.0.1", fifty) == .success("10.0.0.2"))
        #expect(try find("10.0.0.1", "10.0.0.2", fifty) == .failure(.init("X-Forwarded-For has too many addresses")))
        let long = String(repeating: " ", count: 2048 - 9) + "192.0.2.1"
        #expect(try find("10.0.0.1", long) == .success("192.0.2.1"))
        #expect(try find("10.0.0.1", " " + long) == .failure(.init("X-Forwarded-For is longer than 2048 bytes")))
        #expect(try find("10.0.0.1", long, "") == .failure(.init("X-Forwarded-For is longer than 2048 bytes")))
    }

    @Test(arguments: ["192.0.2.7", "::ffff:192.0.2.7"])
    func `CVE-2026-40575: forwarded addresses of untrusted peers are ignored`(peer: String) throws {
        #expect(try find(peer, "203.0.113.9") == .success("192.0.2.7"))
        #expect(try find(peer, "unknown", "", "10.0.0.1") == .success("192.0.2.7"))
    }

    @Test func `CVE-2026-40575: without trusted proxies forwarded fields are not read`() {
        /// Fields that must not be read.
        struct UnreadFields: RequestFields {
            var hostText: String { "app.example" }

            func values(named name: StaticString) -> [UTF8Text] {
                Issue.record("\(name) was read")
                return ["203.0.113.9"]
            }

            func forEachCookieField(_ body: (Span<UInt8>) -> Void) {}
        }
        for address in ["10.0.0.1", nil] {
            var client = RequestClient(address: address)
            #expect(TrustedProxies().readAddress(&client, from: UnreadFields()) == nil)
            #expect(TrustedProxies().readHost(&client, peer: address, from: UnreadFields()) == nil)
            #expect(client.address == address && client.forwardedAuthority == nil)
        }
    }

    @Test func `a peer whose address is not known is not a trusted proxy`() throws {
        #expect(try find(nil, "203.0.113.9") == .success(nil))
        #expect(try find("unix", "203.0.113.9", trusted: Self.blocks("0.0.0.0/0", "::/0")) == .success("unix"))
    }

    @Test func `entries that the client has forged do not change its address`() throws {
        var random = Random(seed: 9)
        let pieces = [
            "10.0.0.2", "::1", "192.0.2.9", "unknown", ",", " ", "_x", "[", "]:1", "é", "\u{0}", "203.0.113.1",
        ]
        for _ in 0..<5000 {
            let forged = (0..<random.below(8)).map { _ in random.pick(pieces) }.joined()
            #expect(try find("10.0.0.1", forged, "198.51.100.4, 10.0.0.7") == .success("198.51.100.4"), "\(forged)")
            #expect(try find("10.0.0.1", forged + ",198.51.100.4") == .success("198.51.100.4"), "\(forged)")
        }
    }

    @Test func `random forwarded fields give a valid address or are rejected`() throws {
        var random = Random(seed: 10)
        for _ in 0..<5000 {
            let field = String(decoding: random.bytes(random.below(24)).map { $0 & 0x3F | 0x20 }, as: UTF8.self)
            if case .success(let text) = try find("10.0.0.1", field) {
                #expect(NetworkAddress((text ?? "")[...]) != nil, "\(field)")
            }
        }
    }
}
