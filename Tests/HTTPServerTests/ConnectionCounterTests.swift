// SPDX-License-Identifier: Apache-2.0

import HTTPLimits
import NIOCore
import Synchronization
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

    /// A place of a client, whose connection closes when it is evicted.
    private func place(
        _ counter: ConnectionCounter,
        _ address: String,
        idle: UInt64? = nil,
        onEviction: @escaping @Sendable () -> Void = {}
    ) throws -> ConnectionPlace {
        let place = ConnectionPlace(counter, address: try key(address), onEviction: onEviction)
        place.recordIdleTime(idle)
        return place
    }

    @Test func `connections are counted in total and for each address, until they are closed`() throws {
        let counter = ConnectionCounter(Self.limits(5, 2))
        func admit(_ addresses: String...) throws -> [ConnectionCounter.Admission] {
            try addresses.map { counter.admit(try place(counter, "192.0.2.\($0)")) }
        }
        let first = [try place(counter, "192.0.2.1"), try place(counter, "192.0.2.1")]
        #expect(first.map(counter.admit) == [.admitted, .admitted])
        #expect(try admit("1", "2", "2", "2") == [.fullForAddress, .admitted, .admitted, .fullForAddress])
        #expect(try admit("3", "3", "1") == [.admitted, .full, .fullForAddress])
        first[0].release()
        #expect(try admit("2", "3", "1") == [.fullForAddress, .admitted, .full])
        first[1].release()
        first[1].release()
        #expect(try admit("1", "4") == [.admitted, .full])
    }

    @Test func `a refused connection is not counted`() throws {
        let counter = ConnectionCounter(Self.limits(10, 1))
        let first = try place(counter, "192.0.2.1")
        #expect(counter.admit(first) == .admitted)
        for _ in 0..<100 {
            let refused = try place(counter, "192.0.2.1")
            #expect(counter.admit(refused) == .fullForAddress)
            refused.release()
        }
        first.release()
        #expect(counter.admit(try place(counter, "192.0.2.1")) == .admitted)
    }

    @Test func `at the limit of an address, its idlest connection is evicted for a new one`() throws {
        let counter = ConnectionCounter(Self.limits(100, 3))
        let evicted = Mutex<[UInt64]>([])
        let places = try [5, 9, 7].map { (idle: UInt64) in
            try place(counter, "192.0.2.1", idle: idle) { evicted.withLock { $0.append(idle) } }
        }
        #expect(places.map(counter.admit) == [.admitted, .admitted, .admitted])
        for _ in 0..<3 { #expect(counter.admit(try place(counter, "192.0.2.1")) == .admitted) }
        #expect(evicted.withLock { $0 } == [9, 7, 5])
        // All connections have a task.
        #expect(counter.admit(try place(counter, "192.0.2.1")) == .fullForAddress)
        for place in places { place.release() }
        #expect(counter.count == 3)
    }

    @Test func `at the limit of all, the address with the most connections loses its idlest one`() throws {
        let counter = ConnectionCounter(Self.limits(4, 3))
        let evicted = Mutex<[String]>([])
        for (last, idle) in [(1, 90), (2, 5), (2, 6), (2, 4)] {
            let place = try place(counter, "192.0.2.\(last)", idle: UInt64(idle)) {
                evicted.withLock { $0.append("\(last) \(idle)") }
            }
            #expect(counter.admit(place) == .admitted)
        }
        #expect(counter.admit(try place(counter, "192.0.2.3")) == .admitted)
        #expect(evicted.withLock { $0 } == ["2 6"])
    }

    @Test func `if the address with the most connections has no idle one, another address loses one`() throws {
        let counter = ConnectionCounter(Self.limits(6, 5))
        let evicted = Mutex<[UInt64]>([])
        for _ in 0..<3 { #expect(counter.admit(try place(counter, "192.0.2.1")) == .admitted) }
        for (last, idle) in [(2, UInt64(5)), (3, 9), (4, 7)] {
            let place = try place(counter, "192.0.2.\(last)", idle: idle) { evicted.withLock { $0.append(idle) } }
            #expect(counter.admit(place) == .admitted)
        }
        // The address with the most connections takes none from others.
        #expect(counter.admit(try place(counter, "192.0.2.1")) == .full)
        #expect(counter.admit(try place(counter, "192.0.2.5")) == .admitted)
        #expect(evicted.withLock { $0 } == [9])
    }

    @Test func `the limit of all holds for addresses at their own limit, too`() throws {
        let counter = ConnectionCounter(Self.limits(20, 2))
        for _ in 0..<4 {
            for last in 1...10 { _ = counter.admit(try place(counter, "192.0.2.\(last)", idle: 1)) }
        }
        #expect(counter.count == 20 + ConnectionCounter.evictionCount)
    }

    @Test func `there are never many more connections than the limit while evicted ones are being closed`() throws {
        let counter = ConnectionCounter(Self.limits(10, 10))
        var count = 0
        for _ in 0..<100 where counter.admit(try place(counter, "192.0.2.1", idle: 1)) == .admitted { count += 1 }
        #expect(count == 10 + ConnectionCounter.evictionCount)
    }

    @Test func `the responses that wait for their clients are limited like connections`() throws {
        let counter = ConnectionCounter(Self.limits(5, 3))
        let places = try ["192.0.2.1", "192.0.2.1", "192.0.2.2"].map { try place(counter, $0) }
        for place in places { #expect(counter.admit(place) == .admitted) }
        #expect(places[0].replaceUnsentCount(0, by: 2))
        #expect(!places[1].replaceUnsentCount(0, by: 2))
        #expect(places[1].replaceUnsentCount(2, by: 1))
        #expect(places[2].replaceUnsentCount(0, by: 2))
        #expect(!places[2].replaceUnsentCount(2, by: 3))
        #expect(places[2].replaceUnsentCount(3, by: 0))
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
        let place = try place(counter, "192.0.2.1")
        #expect(counter.admit(place) == .admitted)
        async let none: Void = counter.waitUntilEmpty()
        place.release()
        await none
    }
}
