// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import RealmKit
import RealmTesting
import TestTools
import Testing

@testable import Throttle

struct WaitingTests {
    /// A fixture whose module waits until the test releases it.
    private struct HoldingFixture {
        let fixture: ThrottleFixture
        let module: ScriptedModule

        init(_ change: (inout ThrottleSettings) -> Void, _ behavior: ScriptedModule.Behavior = .hold()) throws {
            module = ScriptedModule(behavior)
            let entry = LoginStack.Entry(module, .required, deadline: .seconds(100_000))
            fixture = try ThrottleFixture(change, entries: [entry])
        }
    }

    @Test func `of 1000 parallel guesses, at most as many as the limit can succeed`() async throws {
        let check = PasswordCheck()
        let fixture = try ThrottleFixture(
            {
                $0.failures = 10
                $0.waitingPerAccount = 2000
                $0.sourceFailures = 0
            },
            entries: [LoginStack.Entry(check, .required)]
        )
        let checked = SharedList<Int>()
        let answers = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<1000 {
                group.addTask {
                    let report = try await fixture.login("ann", number == 600 ? "right" : "wrong")
                    if report.refusal != .locked { checked.add(number) }
                    return report.identity != nil
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        // If the right guess was accepted, it has cleared the earlier failures.
        let isAccepted = answers.contains(true)
        #expect(checked.all.count <= (isAccepted ? 20 : 10))
        #expect(check.checks.all.count == 1000)
        #expect(fixture.throttle.lockouts.count == 1)
        #expect(fixture.throttle.pending == (0, 0))
    }

    @Test func `of 1000 parallel wrong guesses, those beyond the limit are refused as locked`() async throws {
        let fixture = try ThrottleFixture { $0.failures = 10 }
        let reports = try await withThrowingTaskGroup(of: LoginReport.self) { group in
            for number in 0..<1000 {
                group.addTask { try await fixture.login("ann", "wrong", from: "198.51.100.\(number % 200)") }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(reports.count { $0.refusal != .locked } == 10)
        #expect(reports.allSatisfy { $0.identity == nil })
        #expect(fixture.throttle.pending == (0, 0))
    }

    @Test func `50 parallel logins with the right password all succeed`() async throws {
        let held = try HoldingFixture { $0.failures = 10 }
        let logins = (0..<50).map { _ in Task { try await held.fixture.answer("ann", "right") } }
        try await held.fixture.untilWaiting(40)
        #expect(held.module.calls.count <= 10)
        held.module.release()
        for login in logins { #expect(try await login.value == "in") }
        #expect(held.fixture.throttle.pending == (0, 0))
    }

    @Test func `an attempt waits if its source is full`() async throws {
        let held = try HoldingFixture { $0.sourceFailures = 5 }
        let logins = (0..<30).map { number in Task { try await held.fixture.answer("user\(number)", "right") } }
        try await held.fixture.untilWaiting(25)
        #expect(held.fixture.throttle.pending.running == 10)
        held.module.release()
        for login in logins { #expect(try await login.value == "in") }
        #expect(held.fixture.throttle.pending == (0, 0))
    }

    @Test func `an attempt that has waited at its account then waits at its source`() async throws {
        let held = try HoldingFixture {
            $0.failures = 2
            $0.sourceFailures = 3
        }
        var logins: [Task<String, any Error>] = []
        for name in ["ann", "ann", "bob", "ann", "bob", "cid", "ann", "dan", "bob", "ann"] {
            logins.append(Task { try await held.fixture.answer(name, "right") })
        }
        try await held.fixture.untilWaiting(7)
        held.module.release()
        for login in logins { #expect(try await login.value == "in") }
        #expect(held.fixture.throttle.pending == (0, 0))
    }

    @Test func `a running or waiting login that is cancelled releases its reservation`() async throws {
        let held = try HoldingFixture { $0.failures = 1 }
        let first = Task { try await held.fixture.answer("ann", "x") }
        await held.module.untilCalled()
        let second = Task { try await held.fixture.answer("ann", "x") }
        try await held.fixture.untilWaiting(1)
        second.cancel()
        // No module is called for a cancelled attempt that waits.
        #expect(try await second.value == "unavailable")
        #expect(held.module.calls.count == 1)
        first.cancel()
        #expect(try await first.value == "unavailable")
        #expect(held.fixture.throttle.pending == (0, 0))
        held.module.release()
        // The first login had called a module with the password, so it was the one failure that locks.
        #expect(try await held.fixture.answer("ann", "x") == "locked")
    }

    @Test func `a login that is cancelled before its wait begins does not wait`() async throws {
        let held = try HoldingFixture { $0.failures = 1 }
        let first = Task { try await held.fixture.answer("ann", "x") }
        await held.module.untilCalled()
        for _ in 0..<100 {
            let login = Task { try await held.fixture.answer("ann", "x") }
            login.cancel()
            #expect(try await login.value == "unavailable")
        }
        #expect(held.fixture.throttle.pending.waiting == 0)
        held.module.release()
        #expect(try await first.value == "in")
    }

    @Test func `an attempt that waits too long is refused like a wrong password, and locks no account`() async throws {
        let held = try HoldingFixture { $0.failures = 1 }
        let first = Task { try await held.fixture.answer("ann", "x") }
        await held.module.untilCalled()
        let second = Task { try await held.fixture.answer("ann", "x") }
        try await held.fixture.untilWaiting(1)
        try await Waiting.until {
            held.fixture.clock.advance(by: .seconds(30))
            return held.fixture.throttle.pending.waiting == 0
        }
        await held.module.untilCalled(2)
        held.module.release()
        #expect(try await second.value == "locked")
        #expect(try await first.value == "in")
        #expect(held.fixture.throttle.lockouts.isEmpty)
        #expect(try await held.fixture.answer("ann", "x") == "in")
    }

    @Test func `if too many attempts wait, further attempts are refused at once`() async throws {
        let held = try HoldingFixture {
            $0.failures = 1
            $0.waitingPerAccount = 2
            $0.waiting = 3
        }
        var logins: [Task<String, any Error>] = []
        for name in ["ann", "bob"] { logins.append(Task { try await held.fixture.answer(name, "x") }) }
        await held.module.untilCalled(2)
        for _ in 0..<2 { logins.append(Task { try await held.fixture.answer("ann", "x") }) }
        try await held.fixture.untilWaiting(2)
        let third = Task { try await held.fixture.answer("ann", "x") }
        await held.module.untilCalled(3)
        logins.append(Task { try await held.fixture.answer("bob", "x") })
        try await held.fixture.untilWaiting(3)
        let fourth = Task { try await held.fixture.answer("bob", "x") }
        await held.module.untilCalled(4)
        held.module.release()
        #expect(try await third.value == "locked")
        #expect(try await fourth.value == "locked")
        for login in logins { #expect(try await login.value == "in") }
        #expect(held.fixture.throttle.lockouts.isEmpty)
    }

    @Test func `a reservation that is never settled is released when it is deinitialized`() async throws {
        let fixture = try ThrottleFixture { $0.failures = 1 }
        let account = Account(realm: "town", key: "ann")
        let username = try Username("ann")
        for _ in 0..<3 {
            let reservation = await fixture.throttle.reserve([account], by: username, from: "192.0.2.7")
            #expect(reservation.mayGrant(account))
            #expect(!reservation.mayGrant(Account(realm: "city", key: "ann")))
            #expect(fixture.throttle.pending.running == 2)
        }
        #expect(fixture.throttle.pending == (0, 0))
    }
}
