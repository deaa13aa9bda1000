// SPDX-License-Identifier: Apache-2.0

import RealmKit
import Synchronization
import Testing

@testable import RealmVerifier

@Suite struct PeerTests {
    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1"), ("192.0.2.1:5555", "192.0.2.1"), ("192.0.2.1:65535", "192.0.2.1"),
        ("2001:db8::1", "2001:db8::1"), ("[2001:DB8::1]:5555", "2001:db8::1"), ("[2001:db8::1]", "2001:db8::1"),
        ("ipv4:192.0.2.1:5555", "192.0.2.1"), ("ipv6:[2001:db8::1]:5555", "2001:db8::1"),
        ("[::ffff:192.0.2.1]:80", "192.0.2.1"), ("ipv6:[::ffff:192.0.2.1]:80", "192.0.2.1"),
        // Without brackets, this is an address of eight groups.
        ("::1:5555", "::1:5555"), ("2001:db8::1:5555", "2001:db8::1:5555"),
        ("fe80::1%eth0", "fe80::1"),
    ])
    func `an address with or without a port is read as the address`(text: String, address: String) {
        #expect(Peer(text)?.address == address)
    }

    @Test(arguments: [nil, "unix:", "unix:/run/door.sock", "unix:<unknown>", "in-process", "in-process:27182"])
    func `a Unix socket and a client in the same process have no address`(text: String?) throws {
        #expect(try #require(Peer(text)).address == nil)
    }

    @Test(arguments: [
        "", ":", ":1", "192.0.2.1:", "192.0.2.1:65536", "192.0.2.1:-1", "192.0.2.1:+1", "192.0.2.1:1a", "192.0.2.1:1:1",
        "192.0.2.1: 1", " 192.0.2.1:1", "192.0.2:1", "256.0.2.1:1", "192.0.2.01:1", "192.0.2.1/24", "192.0.2.1%eth0:1",
        "[::1", "::1]", "[]", "[]:1", "[::1]:", "[::1]1", "[::1]]:1", "[::1]:65536", "[::1]:1:1", "[192.0.2.1]:1",
        "[[::1]]:1", "[fe80::1%eth0]:1", "[::g]:1", "::ffff:192.0.2.1:5555", "host:1", "[host]:1", "\u{661}92.0.2.1:1",
        "192.0.2.1:\u{661}", "192.0.2.1\u{0}:1", "[::1\u{0}]:1", "[::1]:1\u{301}", "<unknown>",
        "ipv4:", "ipv4:192.0.2.1", "ipv4:192.0.2.1:", "ipv4:[::1]:1", "ipv4:::1", "ipv4:::1:5555", "ipv4:unix:",
        "ipv4:ipv4:192.0.2.1:1",
        "ipv6:", "ipv6:::1", "ipv6:[::1]", "ipv6:[::1]:", "ipv6:192.0.2.1:1", "ipv6:[192.0.2.1]:1",
        "ipv6:2001:db8::1:5555",
        "ipv6:[fe80::1%eth0]:1", "IPV4:192.0.2.1:1", "Unix:/a", "unix", "in-process-1", "vsock:2:1",
    ])
    func `another text is a mistake`(text: String) {
        #expect(Peer(text) == nil)
    }

    @Test func `the port of a client is no part of the cache and of the throttle`() async throws {
        let log = LogLines()
        let checks = Mutex(0)
        let verifier = try await RealmVerifier(
            settings: "throttle { delay 0s; source-failures 5; }",
            logger: log.logger
        ) {
            RealmDefinition("team") { _, password in
                checks.withLock { $0 += 1 }
                return password.isEqual(to: Secret(utf8: "right")) ? [] : nil
            }
        }
        func user(_ name: String, _ password: String, peer: String) async -> SignedInUser? {
            await verifier.verify(name, password: Secret(utf8: password), peer: peer).user
        }
        for peer in ["192.0.2.1", "192.0.2.1:1", "192.0.2.1:2", "ipv4:192.0.2.1:3"] {
            #expect(await user("ann", "right", peer: peer) != nil)
        }
        #expect(checks.withLock { $0 } == 1)
        for port in 1...5 { #expect(await user("guest\(port)", "wrong", peer: "192.0.2.1:\(port)") == nil) }
        #expect(log.count(containing: "locked after 5 failures") == 1)
        #expect(await user("ben", "right", peer: "ipv4:192.0.2.1:6") == nil)
        #expect(await user("ben", "right", peer: "unix:/run/door.sock") != nil)
    }
}
