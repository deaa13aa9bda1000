// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import TestTools
import Testing

@testable import Throttle

struct DelayTests {
    /// Logs in, and returns the delay of the answer in milliseconds.
    ///
    /// Advances the clock until the answer is sent.
    private func delay(_ fixture: ThrottleFixture, _ name: String, _ password: String) async throws -> Int {
        let begin = fixture.clock.now
        let login = Task { try await fixture.login(name, password) }
        let end = Task {
            _ = try await login.value
            return fixture.clock.now
        }
        let done = SharedList<UInt64>()
        let watcher = Task { done.add(try await end.value) }
        try await Waiting.until {
            if fixture.clock.sleeperCount > 0 { fixture.clock.advance(by: .milliseconds(10)) }
            return !done.all.isEmpty
        }
        try await watcher.value
        return Int((done.all[0] - begin) / 1_000_000)
    }

    private func fixture(_ change: (inout ThrottleSettings) -> Void = { _ in }) throws -> ThrottleFixture {
        try ThrottleFixture {
            $0.delay = .milliseconds(250)
            change(&$0)
        }
    }

    @Test func `the delay doubles with each failure, up to a limit`() async throws {
        let fixture = try fixture()
        var delays: [Int] = []
        for _ in 0..<7 { delays.append(try await delay(fixture, "ann", "wrong")) }
        #expect(delays == [250, 500, 1000, 2000, 4000, 4000, 4000])
        #expect(try await delay(fixture, "ann", "right") == 0)
        #expect(try await delay(fixture, "ann", "wrong") == 250)
    }

    @Test func `a wrong password, an unknown name and a locked account have the same delays`() async throws {
        let fixture = try fixture { $0.failures = 3 }
        for name in ["ann", "nobody"] {
            var delays: [Int] = []
            for _ in 0..<5 { delays.append(try await delay(fixture, name, "wrong")) }
            #expect(delays == [250, 500, 1000, 1000, 1000])
        }
        #expect(try await delay(fixture, "ann", "right") == 1000)
    }

    @Test func `a login from a locked address is delayed like the account's next failure`() async throws {
        let fixture = try fixture { $0.sourceFailures = 2 }
        _ = try await delay(fixture, "ann", "wrong")
        _ = try await delay(fixture, "ann", "wrong")
        #expect(fixture.throttle.lockouts.count == 1)
        #expect(try await delay(fixture, "ann", "wrong") == 1000)
        #expect(try await delay(fixture, "ann", "right") == 1000)
        #expect(try await delay(fixture, "bob", "right") == 250)
    }

    @Test func `a delayed login has no reservation, and its cancellation ends the delay`() async throws {
        let fixture = try fixture()
        let login = Task { try await fixture.answer("ann", "wrong") }
        await fixture.clock.untilAsleep()
        #expect(fixture.throttle.pending == (0, 0))
        #expect(try await fixture.answer("ann", "right") == "in")
        login.cancel()
        #expect(try await login.value == "wrong-credentials")
        #expect(fixture.clock.sleeperCount == 0)
    }

    @Test func `if too many answers are delayed, further answers are sent at once`() async throws {
        let fixture = try fixture { $0.delayedAnswers = 2 }
        let logins = ["ann", "bob"].map { name in Task { try await fixture.answer(name, "wrong") } }
        await fixture.clock.untilAsleep(2)
        #expect(try await fixture.answer("cid", "wrong") == "wrong-credentials")
        fixture.clock.advance(by: .milliseconds(250))
        for login in logins { #expect(try await login.value == "wrong-credentials") }
    }

    @Test func `the delay includes the time of the modules`() async throws {
        let module = ScriptedModule(.run { _ in .failed(.wrongCredentials) })
        let fixture = try ThrottleFixture(
            { $0.delay = .milliseconds(250) },
            entries: [LoginStack.Entry(module, .required)]
        )
        let clock = fixture.clock
        let slow = ScriptedModule(
            .run { _ in
                clock.advance(by: .milliseconds(200))
                return .failed(.wrongCredentials)
            }
        )
        let other = try ThrottleFixture(
            { $0.delay = .milliseconds(250) },
            clock: clock,
            entries: [LoginStack.Entry(slow, .required)]
        )
        #expect(try await delay(other, "ann", "wrong") == 250)
        #expect(try await delay(fixture, "ann", "wrong") == 250)
    }

    @Test(arguments: [(1, 250), (2, 500), (5, 4000), (10, 4000), (1_000_000, 4000)])
    func `the delay is never longer than the longest delay`(failures: Int, milliseconds: Int) {
        #expect(FailureThrottle.delay(failures: failures, settings: ThrottleSettings()) == milliseconds * 1_000_000)
    }

    @Test func `if the first delay is longer than the longest delay, it applies to every failure`() {
        var settings = ThrottleSettings()
        settings.delay = .seconds(9)
        #expect(FailureThrottle.delay(failures: 3, settings: settings) == 9_000_000_000)
    }

    @Test(
        arguments: [
            (Duration.zero, 0), (.seconds(-1), 0), (.milliseconds(250), 250_000_000),
            (.seconds(2_000_000_000), 2_000_000_000_000_000_000), (.seconds(2_000_000_001), 2_000_000_000_000_000_000),
            (.seconds(18_446_744_073) + .milliseconds(900), 2_000_000_000_000_000_000),
            (.seconds(Int64.max), 2_000_000_000_000_000_000), (.seconds(Int64.min), 0),
        ] as [(Duration, Int)]
    )
    func `durations are limited, so that adding them to a time cannot overflow`(length: Duration, nanoseconds: Int) {
        #expect(length.boundedNanoseconds == nanoseconds)
    }
}
