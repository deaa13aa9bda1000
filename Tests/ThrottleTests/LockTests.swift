// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import RealmKit
import RealmTesting
import Testing

@testable import Throttle

struct LockTests {
    @Test func `at the limit an account is locked, and the right password is refused`() async throws {
        let house = try House { $0.failures = 3 }
        try await house.fail("ann", 2)
        #expect(try await house.answer("ann", "wrong") == "wrong-credentials")
        #expect(house.locks.all == ["ann@town as ann"])
        #expect(
            house.throttle.lockouts == [
                Lockout(.account(Account(realm: "town", key: "ann")), failures: 3, end: house.wall.now + 900)
            ]
        )
        #expect(try await house.login("ann", "right").refusal == .locked)
        #expect(try await house.answer("bob", "right") == "in")
    }

    @Test func `a lock ends after its time, whatever was tried meanwhile, and counting starts from zero`() async throws
    {
        let house = try House { $0.failures = 3 }
        try await house.fail("ann", 3)
        house.clock.advance(by: .seconds(800))
        try await house.fail("ann", 20)
        house.clock.advance(by: .seconds(99))
        #expect(try await house.answer("ann", "right") == "locked")
        house.clock.advance(by: .seconds(1))
        #expect(house.throttle.lockouts.isEmpty)
        try await house.fail("ann", 2)
        #expect(try await house.answer("ann", "right") == "in")
        #expect(house.locks.all.count == 1)
    }

    @Test func `a success clears the account's failures`() async throws {
        let house = try House { $0.failures = 3 }
        for _ in 0..<5 {
            try await house.fail("ann", 2)
            #expect(try await house.answer("ann", "right") == "in")
        }
    }

    @Test func `a success of somebody with an account of his own does not clear his address`() async throws {
        let house = try House { $0.sourceFailures = 10 }
        for number in 0..<10 {
            try await house.fail("user\(number)")
            if number < 9 { #expect(try await house.answer("mallory", "right") == "in") }
        }
        #expect(try await house.answer("mallory", "right") == "locked")
        #expect(try await house.answer("mallory", "right", from: "192.0.2.8") == "in")
        #expect(house.locks.all == ["192.0.2.7 as user9"])
    }

    @Test func `a failure counts for the window, and not for an eighth of it longer`() async throws {
        let house = try House { $0.failures = 3 }
        try await house.fail("ann", 2)
        house.clock.advance(by: .seconds(899))
        try await house.fail("ann")
        #expect(try await house.answer("ann", "right") == "locked")
        try await house.fail("bob", 2)
        house.clock.advance(by: .seconds(900 + 113))
        try await house.fail("bob")
        #expect(try await house.answer("bob", "right") == "in")
    }

    @Test func `with no limit nothing is locked`() async throws {
        let house = try House {
            $0.failures = 0
            $0.sourceFailures = 0
        }
        try await house.fail("ann", 300)
        #expect(try await house.answer("ann", "right") == "in")
    }

    @Test func `without an address, and from an exempt one, only accounts are counted`() async throws {
        let house = try House {
            $0.sourceFailures = 5
            $0.failures = 3
            $0.exempt = [try? AddressBlock("10.0.0.0/8")].compactMap { $0 }
        }
        for number in 0..<20 {
            try await house.fail("user\(number)", from: nil)
            try await house.fail("other\(number)", from: "10.1.2.3")
            try await house.fail("more\(number)", from: "::ffff:10.1.2.3")
        }
        #expect(house.throttle.lockouts.isEmpty)
        try await house.fail("ann", 3, from: "10.1.2.3")
        #expect(try await house.answer("ann", "right", from: nil) == "locked")
    }

    @Test func `all addresses of 64 bits of IPv6 are one source`() async throws {
        let house = try House { $0.sourceFailures = 4 }
        for number in 1...4 { try await house.fail("user\(number)", from: "2001:db8::\(number)") }
        #expect(try await house.answer("ann", "right", from: "2001:db8::ffff:1") == "locked")
        #expect(try await house.answer("ann", "right", from: "2001:db8:0:1::1") == "in")
        #expect(house.throttle.lockouts.map { "\($0.key)" } == ["2001:db8:0:0::/64"])
    }

    @Test func `what is locked can be cleared, one by one and all`() async throws {
        let house = try House {
            $0.failures = 2
            $0.sourceFailures = 6
        }
        for name in ["ann", "bob", "cid"] { try await house.fail(name, 2) }
        #expect(house.throttle.lockouts.count == 4)
        house.throttle.clear(.one(.source(Source("192.0.2.7"))))
        house.throttle.clear(.one(.account(Account(realm: "town", key: "ann"))))
        #expect(try await house.answer("ann", "right") == "in")
        #expect(try await house.answer("bob", "right") == "locked")
        house.throttle.clear(.all)
        #expect(try await house.answer("bob", "right") == "in")
        #expect(house.throttle.lockouts.isEmpty)
    }
}
