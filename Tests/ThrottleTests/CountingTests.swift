// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import Testing

@testable import Throttle

struct CountingTests {
    @Test(arguments: LoginFailure.allCases)
    func `every refusal counts as a failure, except unavailable, overloaded and internal-error`(
        failure: LoginFailure
    ) async throws {
        let fixture = try ThrottleFixture(
            { $0.failures = 3 },
            entries: [LoginStack.Entry(ScriptedModule(.refuse(failure)), .required)]
        )
        for _ in 0..<3 { #expect(try await fixture.answer("ann", "x") == failure.code) }
        // Each login presents a password, so the code missing-credential counts too.
        let isNotCounted = [.unavailable, .overloaded, .internalError].contains(failure)
        #expect(fixture.throttle.lockouts.isEmpty == isNotCounted)
    }

    @Test func `an internal error is not a failure, and a login without a password is not a failure`() async throws {
        let broken = ScriptedModule(.fail(.internalError("broken")))
        let fixture = try ThrottleFixture({ $0.failures = 1 }, entries: [LoginStack.Entry(broken, .required)])
        #expect(try await fixture.answer("ann", "x") == "internal-error")
        let silent = try ThrottleFixture { $0.failures = 1 }
        #expect(try await silent.answer("ann", nil) == "missing-credential")
        #expect(fixture.throttle.lockouts.isEmpty)
        #expect(silent.throttle.lockouts.isEmpty)
    }

    @Test func `a login that all modules ignored counts as a failure`() async throws {
        let fixture = try ThrottleFixture(
            { $0.failures = 2 },
            entries: [LoginStack.Entry(ScriptedModule(.ignore), .required)]
        )
        for _ in 0..<2 { #expect(try await fixture.login("ann", "x").refusal == .allIgnored) }
        #expect(fixture.throttle.lockouts.count == 1)
    }

    @Test func `unknown names are counted and locked like known names`() async throws {
        let fixture = try ThrottleFixture { $0.failures = 3 }
        try await fixture.fail("nobody", 3)
        try await fixture.fail("ann", 3)
        #expect(Set(fixture.throttle.lockouts.map { "\($0.key)" }) == ["nobody@town", "ann@town"])
        #expect(try await fixture.answer("nobody", "x") == "locked")
    }

    @Test func `CVE-2026-47203: spellings in another case or accent share one counter`() async throws {
        let fixture = try ThrottleFixture { $0.failures = 4 }
        for name in ["Renée", "RENÉE", "rene\u{301}e", "ReNe\u{301}E"] { try await fixture.fail(name) }
        #expect(try await fixture.answer("renée", "right") == "locked")
        #expect(fixture.throttle.lockouts.count == 1)
    }

    @Test func `CVE-2025-24806: name and mail address share one counter for all services`() async throws {
        let fixture = try ThrottleFixture { $0.failures = 4 }
        for (name, service) in [("ann", "https"), ("ann@example.org", "https"), ("Ann", "form"), ("ANN@x", "token")] {
            _ = try await fixture.login(name, "wrong", service: service)
        }
        #expect(try await fixture.answer("ann", "right") == "locked")
    }

    @Test func `CVE-2025-64521: a locked account is locked for every service`() async throws {
        let fixture = try ThrottleFixture { $0.failures = 1 }
        try await fixture.fail("ann")
        for service in ["https", "form", "token", "authcheck"] {
            #expect(try await fixture.login("ann", "right", service: service).refusal == .locked)
        }
    }

    @Test func `CVE-2024-47070: an invalid address is counted, not skipped`() async throws {
        let fixture = try ThrottleFixture { $0.sourceFailures = 3 }
        for number in 0..<3 { try await fixture.fail("user\(number)", from: "not an address") }
        #expect(try await fixture.answer("ann", "right", from: "not an address") == "locked")
        #expect(try await fixture.answer("ann", "right") == "in")
    }

    @Test func `CVE-2026-77561: a flood of unknown names locks only its source`() async throws {
        let fixture = try ThrottleFixture()
        for number in 0..<3000 { try await fixture.fail("bogus\(number)", from: "198.51.100.9") }
        #expect(fixture.throttle.lockouts.map { "\($0.key)" } == ["198.51.100.9"])
        for number in 0..<100 { #expect(try await fixture.answer("user\(number)", "right") == "in") }
    }
}
