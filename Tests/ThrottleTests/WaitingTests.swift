// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import RealmKit
import RealmTesting
import Testing

@testable import Throttle

struct WaitingTests {
    /// A house whose module answers when it is let.
    private struct Held {
        let house: House
        let module: FaultInjector

        init(_ change: (inout ThrottleSettings) -> Void, _ behavior: FaultInjector.Behavior = .hold()) throws {
            module = FaultInjector(behavior)
            let entry = LoginStack.Entry(module, .required, deadline: .seconds(100_000))
            house = try House(change, entries: [entry])
        }
    }

    @Test func `of 1000 parallel guesses no more than the limit get a chance`() async throws {
        let check = PasswordCheck()
        let house = try House(
            {
                $0.failures = 10
                $0.waitingPerAccount = 2000
                $0.sourceFailures = 0
            },
            entries: [LoginStack.Entry(check, .required)]
        )
        let chances = Notes<Int>()
        let answers = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<1000 {
                group.addTask {
                    let report = try await house.login("ann", number == 600 ? "right" : "wrong")
                    if report.refusal != .locked { chances.add(number) }
                    return report.identity != nil
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        // The right one among them may have been early, and have cleared what came before it.
        let isIn = answers.contains(true)
        #expect(chances.all.count <= (isIn ? 20 : 10))
        #expect(check.checks.all.count == 1000)
        #expect(house.throttle.lockouts.count == 1)
        #expect(house.throttle.pending == (0, 0))
    }

    @Test func `of 1000 parallel wrong guesses exactly the limit get a chance, whoever else waits`() async throws {
        let house = try House { $0.failures = 10 }
        let reports = try await withThrowingTaskGroup(of: LoginReport.self) { group in
            for number in 0..<1000 {
                group.addTask { try await house.login("ann", "wrong", from: "198.51.100.\(number % 200)") }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(reports.count { $0.refusal != .locked } == 10)
        #expect(reports.allSatisfy { $0.identity == nil })
        #expect(house.throttle.pending == (0, 0))
    }

    @Test func `50 parallel logins with the right password all get in`() async throws {
        let held = try Held { $0.failures = 10 }
        let logins = (0..<50).map { _ in Task { try await held.house.answer("ann", "right") } }
        await held.house.untilWaiting(40)
        #expect(held.module.calls.count <= 10)
        held.module.release()
        for login in logins { #expect(try await login.value == "in") }
        #expect(held.house.throttle.pending == (0, 0))
    }

    @Test func `attempts from one source wait for one another too`() async throws {
        let held = try Held { $0.sourceFailures = 5 }
        let logins = (0..<30).map { number in Task { try await held.house.answer("user\(number)", "right") } }
        await held.house.untilWaiting(25)
        #expect(held.house.throttle.pending.flights == 10)
        held.module.release()
        for login in logins { #expect(try await login.value == "in") }
        #expect(held.house.throttle.pending == (0, 0))
    }

    @Test func `who waits at an account and then has no room at its source waits there`() async throws {
        let held = try Held {
            $0.failures = 2
            $0.sourceFailures = 3
        }
        var logins: [Task<String, any Error>] = []
        for name in ["ann", "ann", "bob", "ann", "bob", "cid", "ann", "dan", "bob", "ann"] {
            logins.append(Task { try await held.house.answer(name, "right") })
        }
        await held.house.untilWaiting(7)
        held.module.release()
        for login in logins { #expect(try await login.value == "in") }
        #expect(held.house.throttle.pending == (0, 0))
    }

    @Test func `a login that is cancelled gives its place back, on its way or waiting`() async throws {
        let held = try Held { $0.failures = 1 }
        let first = Task { try await held.house.answer("ann", "x") }
        await held.module.untilCalled()
        let second = Task { try await held.house.answer("ann", "x") }
        await held.house.untilWaiting(1)
        second.cancel()
        // Nothing that waits is called for somebody who does not wait any more.
        #expect(try await second.value == "unavailable")
        #expect(held.module.calls.count == 1)
        first.cancel()
        #expect(try await first.value == "unavailable")
        #expect(held.house.throttle.pending == (0, 0))
        held.module.release()
        #expect(try await held.house.answer("ann", "x") == "in")
    }

    @Test func `a login that is cancelled before it waits does not wait`() async throws {
        let held = try Held { $0.failures = 1 }
        let first = Task { try await held.house.answer("ann", "x") }
        await held.module.untilCalled()
        for _ in 0..<100 {
            let login = Task { try await held.house.answer("ann", "x") }
            login.cancel()
            #expect(try await login.value == "unavailable")
        }
        #expect(held.house.throttle.pending.waiting == 0)
        held.module.release()
        #expect(try await first.value == "in")
    }

    @Test func `who has waited too long is refused like a wrong password, which locks nobody`() async throws {
        let held = try Held { $0.failures = 1 }
        let first = Task { try await held.house.answer("ann", "x") }
        await held.module.untilCalled()
        let second = Task { try await held.house.answer("ann", "x") }
        await held.house.untilWaiting(1)
        while held.house.throttle.pending.waiting > 0 {
            held.house.clock.advance(by: .seconds(30))
            await Task.yield()
        }
        await held.module.untilCalled(2)
        held.module.release()
        #expect(try await second.value == "locked")
        #expect(try await first.value == "in")
        #expect(held.house.throttle.lockouts.isEmpty)
        #expect(try await held.house.answer("ann", "x") == "in")
    }

    @Test func `beyond the bounds nobody waits`() async throws {
        let held = try Held {
            $0.failures = 1
            $0.waitingPerAccount = 2
            $0.waiting = 3
        }
        var logins: [Task<String, any Error>] = []
        for name in ["ann", "bob"] { logins.append(Task { try await held.house.answer(name, "x") }) }
        await held.module.untilCalled(2)
        for _ in 0..<2 { logins.append(Task { try await held.house.answer("ann", "x") }) }
        await held.house.untilWaiting(2)
        let third = Task { try await held.house.answer("ann", "x") }
        await held.module.untilCalled(3)
        logins.append(Task { try await held.house.answer("bob", "x") })
        await held.house.untilWaiting(3)
        let fourth = Task { try await held.house.answer("bob", "x") }
        await held.module.untilCalled(4)
        held.module.release()
        #expect(try await third.value == "locked")
        #expect(try await fourth.value == "locked")
        for login in logins { #expect(try await login.value == "in") }
        #expect(held.house.throttle.lockouts.isEmpty)
    }

    @Test func `a reservation that nobody settles gives its place back`() async throws {
        let house = try House { $0.failures = 1 }
        let account = Account(realm: "town", key: "ann")
        let request = LoginRequest(realm: "town", username: try Username("ann"), peer: "192.0.2.7")
        for _ in 0..<3 {
            let reservation = await house.throttle.reserve(account, for: request)
            #expect(reservation.mayGrant)
            #expect(house.throttle.pending.flights == 2)
        }
        #expect(house.throttle.pending == (0, 0))
    }
}
