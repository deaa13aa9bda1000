// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import RealmKit
import RealmTesting
import Testing

@testable import Throttle

struct DelayTests {
    /// How long the answer to a login was held back, in milliseconds; the clock is moved until it comes.
    private func delay(_ house: House, _ name: String, _ password: String) async throws -> Int {
        let begin = house.clock.now
        let login = Task { try await house.login(name, password) }
        let end = Task {
            _ = try await login.value
            return house.clock.now
        }
        let done = Notes<UInt64>()
        let watcher = Task { done.add(try await end.value) }
        while done.all.isEmpty {
            if house.clock.sleepers > 0 { house.clock.advance(by: .milliseconds(10)) }
            await Task.yield()
        }
        try await watcher.value
        return Int((done.all[0] - begin) / 1_000_000)
    }

    private func house(_ change: (inout ThrottleSettings) -> Void = { _ in }) throws -> House {
        try House {
            $0.delay = .milliseconds(250)
            change(&$0)
        }
    }

    @Test func `each failure's answer takes twice as long as the one before, up to a bound`() async throws {
        let house = try house()
        var delays: [Int] = []
        for _ in 0..<7 { delays.append(try await delay(house, "ann", "wrong")) }
        #expect(delays == [250, 500, 1000, 2000, 4000, 4000, 4000])
        #expect(try await delay(house, "ann", "right") == 0)
        #expect(try await delay(house, "ann", "wrong") == 250)
    }

    @Test func `a wrong password, an unknown name and a locked account are delayed alike`() async throws {
        let house = try house { $0.failures = 3 }
        for name in ["ann", "nobody"] {
            var delays: [Int] = []
            for _ in 0..<5 { delays.append(try await delay(house, name, "wrong")) }
            #expect(delays == [250, 500, 1000, 1000, 1000])
        }
        #expect(try await delay(house, "ann", "right") == 1000)
    }

    @Test func `from a locked source an answer is delayed as the next failure would be`() async throws {
        let house = try house { $0.sourceFailures = 2 }
        _ = try await delay(house, "ann", "wrong")
        _ = try await delay(house, "ann", "wrong")
        #expect(house.throttle.lockouts.count == 1)
        #expect(try await delay(house, "ann", "wrong") == 1000)
        #expect(try await delay(house, "ann", "right") == 1000)
        #expect(try await delay(house, "bob", "right") == 250)
    }

    @Test func `a delay holds no reservation and ends when nobody waits for the answer`() async throws {
        let house = try house()
        let login = Task { try await house.answer("ann", "wrong") }
        await house.clock.untilAsleep()
        #expect(house.throttle.pending == (0, 0))
        #expect(try await house.answer("ann", "right") == "in")
        login.cancel()
        #expect(try await login.value == "wrong-credentials")
        #expect(house.clock.sleepers == 0)
    }

    @Test func `beyond the bound answers come at once`() async throws {
        let house = try house { $0.delayedAnswers = 2 }
        let logins = ["ann", "bob"].map { name in Task { try await house.answer(name, "wrong") } }
        await house.clock.untilAsleep(2)
        #expect(try await house.answer("cid", "wrong") == "wrong-credentials")
        house.clock.advance(by: .milliseconds(250))
        for login in logins { #expect(try await login.value == "wrong-credentials") }
    }

    @Test func `what the modules took is part of the delay`() async throws {
        let module = FaultInjector(.run { _ in .failed(.wrongCredentials) })
        let house = try House({ $0.delay = .milliseconds(250) }, entries: [LoginStack.Entry(module, .required)])
        let clock = house.clock
        let slow = FaultInjector(
            .run { _ in
                clock.advance(by: .milliseconds(200))
                return .failed(.wrongCredentials)
            }
        )
        let other = try House(
            { $0.delay = .milliseconds(250) },
            clock: clock,
            entries: [LoginStack.Entry(slow, .required)]
        )
        #expect(try await delay(other, "ann", "wrong") == 250)
        #expect(try await delay(house, "ann", "wrong") == 250)
    }

    @Test(arguments: [(1, 250), (2, 500), (5, 4000), (10, 4000), (1_000_000, 4000)])
    func `a delay is a number of steps that is bounded`(failures: Int, milliseconds: Int) {
        #expect(FailureThrottle.delay(failures: failures, ThrottleSettings()) == milliseconds * 1_000_000)
    }

    @Test func `a first delay longer than the longest is the longest`() {
        var settings = ThrottleSettings()
        settings.delay = .seconds(9)
        #expect(FailureThrottle.delay(failures: 3, settings) == 9_000_000_000)
    }
}
