// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import HTTPLimits
import NIOCore
import Testing

@testable import HTTPServer

@Suite struct ConnectionCounterTests {
    private static func limits(_ total: Int, _ perAddress: Int) -> HTTPLimits {
        var limits = HTTPLimits()
        limits.connections = total
        limits.connectionsPerAddress = perAddress
        return limits
    }

    private func key(_ address: String) throws -> AddressKey {
        AddressKey(try SocketAddress(ipAddress: address, port: 4711))
    }

    @Test func `connections are counted in total and for each address, until they are closed`() throws {
        let counter = ConnectionCounter(Self.limits(5, 2))
        let (a, b, c) = (try key("192.0.2.1"), try key("192.0.2.2"), try key("192.0.2.3"))
        #expect(
            [a, a, a, b, b, b].map(counter.admit) == [
                .admitted, .admitted, .fullForAddress, .admitted, .admitted, .fullForAddress,
            ]
        )
        #expect([c, c, a].map(counter.admit) == [.admitted, .full, .full])
        counter.release(a)
        #expect([b, c, a].map(counter.admit) == [.fullForAddress, .admitted, .full])
        counter.release(a)
        #expect(counter.admit(a) == .admitted)
    }

    @Test func `a refused connection is not counted`() throws {
        let counter = ConnectionCounter(Self.limits(10, 1))
        let address = try key("192.0.2.1")
        #expect(counter.admit(address) == .admitted)
        for _ in 0..<100 { #expect(counter.admit(address) == .fullForAddress) }
        counter.release(address)
        #expect(counter.admit(address) == .admitted)
    }

    @Test(
        arguments: [
            ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false), ("192.0.2.1", "192.1.2.1", false),
            ("2001:db8::1", "2001:db8::2", true), ("2001:db8::1", "2001:db8:0:0:ffff::2", true),
            ("2001:db8:0:1::1", "2001:db8:0:2::1", false), ("::ffff:192.0.2.1", "192.0.2.1", true),
            ("::ffff:192.0.2.1", "::ffff:192.0.2.2", false), ("2001:db8::1", "192.0.2.1", false),
        ]
    )
    func `IPv4 is counted by address, IPv6 by network, and an IPv4-mapped address as IPv4`(
        left: String,
        right: String,
        isSame: Bool
    ) throws {
        #expect((try key(left) == key(right)) == isSame)
    }

    @Test func `the port is not part of an address key`() throws {
        #expect(
            AddressKey(try SocketAddress(ipAddress: "192.0.2.1", port: 1))
                == AddressKey(try SocketAddress(ipAddress: "192.0.2.1", port: 2))
        )
    }

    @Test func `waitUntilEmpty returns when the last connection is closed`() async throws {
        let counter = ConnectionCounter(Self.limits(5, 5))
        await counter.waitUntilEmpty()
        let address = try key("192.0.2.1")
        #expect(counter.admit(address) == .admitted)
        async let none: Void = counter.waitUntilEmpty()
        counter.release(address)
        await none
    }
}
