// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import RealmKit
import RealmTesting
import Testing

@testable import Throttle

struct CountingTests {
    @Test(arguments: LoginFailure.allCases)
    func `each kind of refusal counts, or does not`(failure: LoginFailure) async throws {
        let house = try House(
            { $0.failures = 3 },
            entries: [LoginStack.Entry(FaultInjector(.refuse(failure)), .required)]
        )
        for _ in 0..<3 { #expect(try await house.answer("ann", "x") == failure.code) }
        let isNone = [.unavailable, .internalError, .missingCredential].contains(failure)
        #expect(house.throttle.lockouts.isEmpty == isNone)
    }

    @Test func `a module that throws or nobody asks counts as nothing`() async throws {
        let broken = FaultInjector(.fail(.internalError("broken")))
        let house = try House({ $0.failures = 1 }, entries: [LoginStack.Entry(broken, .required)])
        #expect(try await house.answer("ann", "x") == "internal-error")
        let silent = try House { $0.failures = 1 }
        #expect(try await silent.answer("ann", nil) == "missing-credential")
        #expect(house.throttle.lockouts.isEmpty)
        #expect(silent.throttle.lockouts.isEmpty)
    }

    @Test func `stacks in which nobody says no count as failures all the same`() async throws {
        let house = try House({ $0.failures = 2 }, entries: [LoginStack.Entry(FaultInjector(.ignore), .required)])
        for _ in 0..<2 { #expect(try await house.login("ann", "x").refusal == .allIgnored) }
        #expect(house.throttle.lockouts.count == 1)
    }

    @Test(arguments: [true, false])
    func `with one of two modules down there is no guessing at the other without end`(isDownFirst: Bool) async throws {
        let down = LoginStack.Entry(FaultInjector(.fail(.unavailable("down"))), .required)
        let check = PasswordCheck()
        let entries = [down, LoginStack.Entry(check, .required)]
        let house = try House({ $0.failures = 3 }, entries: isDownFirst ? entries : entries.reversed())
        let reason = isDownFirst ? "unavailable" : "wrong-credentials"
        for _ in 0..<3 { #expect(try await house.answer("ann", "wrong") == reason) }
        #expect(house.locks.all == ["ann@town as ann"])
        // The right password with the directory down is no guess, so it does not count.
        for _ in 0..<5 { #expect(try await house.answer("bob", "right") == "unavailable") }
        #expect(house.locks.all.count == 1)
    }

    @Test func `unknown names are counted and locked like known ones`() async throws {
        let house = try House { $0.failures = 3 }
        try await house.fail("nobody", 3)
        try await house.fail("ann", 3)
        #expect(Set(house.throttle.lockouts.map { "\($0.key)" }) == ["nobody@town", "ann@town"])
        #expect(try await house.answer("nobody", "x") == "locked")
    }

    @Test func `CVE-2026-47203, a casing or an accent has no counter of its own`() async throws {
        let house = try House { $0.failures = 4 }
        for name in ["Renée", "RENÉE", "rene\u{301}e", "ReNe\u{301}E"] { try await house.fail(name) }
        #expect(try await house.answer("renée", "right") == "locked")
        #expect(house.throttle.lockouts.count == 1)
    }

    @Test func `CVE-2025-24806, name and mail address count together, over all services`() async throws {
        let house = try House { $0.failures = 4 }
        for (name, service) in [("ann", "https"), ("ann@example.org", "https"), ("Ann", "form"), ("ANN@x", "token")] {
            _ = try await house.login(name, "wrong", service: service)
        }
        #expect(try await house.answer("ann", "right") == "locked")
    }

    @Test func `CVE-2025-64521, a locked account is locked for every service`() async throws {
        let house = try House { $0.failures = 1 }
        try await house.fail("ann")
        for service in ["https", "form", "token", "authcheck"] {
            #expect(try await house.login("ann", "right", service: service).refusal == .locked)
        }
    }

    @Test func `CVE-2024-47070, an address that is none is counted, not skipped`() async throws {
        let house = try House { $0.sourceFailures = 3 }
        for number in 0..<3 { try await house.fail("user\(number)", from: "not an address") }
        #expect(try await house.answer("ann", "right", from: "not an address") == "locked")
        #expect(try await house.answer("ann", "right") == "in")
    }

    @Test func `CVE-2026-77561, a flood of bogus names locks nobody but its source`() async throws {
        let house = try House()
        for number in 0..<10_000 { try await house.fail("bogus\(number)", from: "198.51.100.9") }
        #expect(house.throttle.lockouts.map { "\($0.key)" } == ["198.51.100.9"])
        for number in 0..<100 { #expect(try await house.answer("user\(number)", "right") == "in") }
    }
}
