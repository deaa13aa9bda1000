// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import Testing

@testable import Throttle

struct LockTests {
    @Test func `an account that reaches the limit is locked, and the right password is refused`() async throws {
        let fixture = try ThrottleFixture { $0.failures = 3 }
        try await fixture.fail("ann", 2)
        #expect(try await fixture.answer("ann", "wrong") == "wrong-credentials")
        #expect(fixture.locks.all == ["ann@town as ann"])
        #expect(
            fixture.throttle.lockouts == [
                Lockout(.account(Account(realm: "town", key: "ann")), failures: 3, end: fixture.wall.now + 900)
            ]
        )
        #expect(try await fixture.login("ann", "right").refusal == .locked)
        #expect(try await fixture.answer("bob", "right") == "in")
    }

    @Test func `attempts do not extend a lock, and counting starts from zero after the lock`() async throws {
        let fixture = try ThrottleFixture { $0.failures = 3 }
        try await fixture.fail("ann", 3)
        fixture.clock.advance(by: .seconds(800))
        try await fixture.fail("ann", 20)
        fixture.clock.advance(by: .seconds(99))
        #expect(try await fixture.answer("ann", "right") == "locked")
        fixture.clock.advance(by: .seconds(1))
        #expect(fixture.throttle.lockouts.isEmpty)
        try await fixture.fail("ann", 2)
        #expect(try await fixture.answer("ann", "right") == "in")
        #expect(fixture.locks.all.count == 1)
    }

    @Test func `a success clears the account's failures`() async throws {
        let fixture = try ThrottleFixture { $0.failures = 3 }
        for _ in 0..<5 {
            try await fixture.fail("ann", 2)
            #expect(try await fixture.answer("ann", "right") == "in")
        }
    }

    @Test func `a success does not clear the failures of its address`() async throws {
        let fixture = try ThrottleFixture { $0.sourceFailures = 10 }
        for number in 0..<10 {
            try await fixture.fail("user\(number)")
            if number < 9 { #expect(try await fixture.answer("mallory", "right") == "in") }
        }
        #expect(try await fixture.answer("mallory", "right") == "locked")
        #expect(try await fixture.answer("mallory", "right", from: "192.0.2.8") == "in")
        #expect(fixture.locks.all == ["192.0.2.7 as user9"])
    }

    @Test(arguments: ["wrong", "right"])
    func `guesses at a locked account count for their address, whatever the password is`(password: String) async throws
    {
        let fixture = try ThrottleFixture {
            $0.failures = 3
            $0.sourceFailures = 10
        }
        try await fixture.fail("ann", 3)
        for _ in 0..<7 {
            #expect(try await fixture.answer("mallory", "right") == "in")
            #expect(try await fixture.answer("ann", password) == "locked")
        }
        #expect(try await fixture.answer("mallory", "right") == "locked")
        #expect(try await fixture.answer("mallory", "right", from: "192.0.2.8") == "in")
        #expect(fixture.throttle.pending == (0, 0))
    }

    @Test func `a failure counts for the window, and at most an eighth longer`() async throws {
        let fixture = try ThrottleFixture { $0.failures = 3 }
        try await fixture.fail("ann", 2)
        fixture.clock.advance(by: .seconds(899))
        try await fixture.fail("ann")
        #expect(try await fixture.answer("ann", "right") == "locked")
        try await fixture.fail("bob", 2)
        fixture.clock.advance(by: .seconds(900 + 113))
        try await fixture.fail("bob")
        #expect(try await fixture.answer("bob", "right") == "in")
    }

    @Test func `if the limits are 0, no account and no source is locked`() async throws {
        let fixture = try ThrottleFixture {
            $0.failures = 0
            $0.sourceFailures = 0
        }
        try await fixture.fail("ann", 300)
        #expect(try await fixture.answer("ann", "right") == "in")
    }

    @Test func `logins without an address or from an exempt address are counted for the account only`() async throws {
        let fixture = try ThrottleFixture {
            $0.sourceFailures = 5
            $0.failures = 3
            $0.exempt = [try? CIDRBlock("10.0.0.0/8")].compactMap { $0 }
        }
        for number in 0..<20 {
            try await fixture.fail("user\(number)", from: nil)
            try await fixture.fail("other\(number)", from: "10.1.2.3")
            try await fixture.fail("more\(number)", from: "::ffff:10.1.2.3")
        }
        #expect(fixture.throttle.lockouts.isEmpty)
        try await fixture.fail("ann", 3, from: "10.1.2.3")
        #expect(try await fixture.answer("ann", "right", from: nil) == "locked")
    }

    @Test func `all addresses of an IPv6 network of 64 bits are one source`() async throws {
        let fixture = try ThrottleFixture { $0.sourceFailures = 4 }
        for number in 1...4 { try await fixture.fail("user\(number)", from: "2001:db8::\(number)") }
        #expect(try await fixture.answer("ann", "right", from: "2001:db8::ffff:1") == "locked")
        #expect(try await fixture.answer("ann", "right", from: "2001:db8:0:1::1") == "in")
        #expect(fixture.throttle.lockouts.map { "\($0.key)" } == ["2001:db8:0:0::/64"])
    }

    @Test func `a single lockout or all lockouts can be cleared`() async throws {
        let fixture = try ThrottleFixture {
            $0.failures = 2
            $0.sourceFailures = 6
        }
        for name in ["ann", "bob", "cid"] { try await fixture.fail(name, 2) }
        #expect(fixture.throttle.lockouts.count == 4)
        fixture.throttle.clear(.one(.source(ClientNetwork("192.0.2.7"))))
        fixture.throttle.clear(.one(.account(Account(realm: "town", key: "ann"))))
        #expect(try await fixture.answer("ann", "right") == "in")
        #expect(try await fixture.answer("bob", "right") == "locked")
        fixture.throttle.clear(.all)
        #expect(try await fixture.answer("bob", "right") == "in")
        #expect(fixture.throttle.lockouts.isEmpty)
    }
}
